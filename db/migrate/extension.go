package migrate

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// extensionVersion names a release of the extension by its newest migration and
// its function release, so that an update script knows which tables are there.
type extensionVersion struct {
	migration int64
	release   int
}

// String returns the version as PostgreSQL shows it, for example 4.2.
func (v extensionVersion) String() string {
	return fmt.Sprintf("%d.%d", v.migration, v.release)
}

func (t target) extension() extensionVersion {
	return extensionVersion{migration: t.version(), release: t.release}
}

// publishedExtensions lists the extension versions that were released before
// this one. Whoever changes Release after a publication adds the old one here.
func publishedExtensions() []extensionVersion { return nil }

// Superuser is false, and trusted would mean nothing then: the objects must
// belong to who creates the extension, since the functions run as their owner.
const extensionControl = `comment = 'Regent, a message log: queues, partitions, consumer groups'
default_version = '%s'
schema = queen
relocatable = false
superuser = false
encoding = 'UTF8'
`

const (
	extensionCreateHeader = `-- Regent %[1]s as an extension: tables and functions of schema queen.
\echo Use "CREATE EXTENSION regent" to load this file. \quit

`
	// A script runs in the caller's transaction. What tells functions of this
	// update from older ones is their transaction id, so it must be its own.
	extensionUpdateHeader = `-- Regent from %[1]s to %[2]s. Indexes of new migrations are built under a lock on their table.
\echo Use "ALTER EXTENSION regent UPDATE TO '%[2]s'" to load this file. \quit

DO $regent$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_proc
        WHERE pronamespace = 'queen'::regnamespace AND xmin = pg_catalog.pg_current_xact_id()::xid) THEN
        RAISE EXCEPTION 'run ALTER EXTENSION regent UPDATE in a transaction of its own';
    END IF;
    IF (SELECT max(version_id) FROM queen.schema_migrations WHERE is_applied) IS DISTINCT FROM %[3]d THEN
        RAISE EXCEPTION 'queen.schema_migrations does not end with %[3]d, from which this script updates';
    END IF;
END
$regent$;

`
	extensionTimezone = `SET LOCAL timezone = 'UTC';

`
	// Inside a savepoint every row carries another id than the transaction's.
	extensionRefuseSavepoint = `DO $regent$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_proc
        WHERE pronamespace = 'queen'::regnamespace AND xmin = pg_catalog.pg_current_xact_id()::xid) THEN
        RAISE EXCEPTION 'run ALTER EXTENSION regent UPDATE in a transaction of its own, outside of a savepoint';
    END IF;
END
$regent$;`

	// pg_dump leaves out the rows of an extension's tables unless they are
	// marked. The two tables that the script itself fills must stay unmarked:
	// a restore would fill them twice.
	extensionMarkTables = `DO $regent$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT c.oid
        FROM pg_catalog.pg_class c
        JOIN pg_catalog.pg_depend e ON e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e'
        JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid AND x.extname = 'regent'
        LEFT JOIN pg_catalog.pg_depend o ON c.relkind = 'S' AND o.classid = 'pg_class'::regclass AND o.objid = c.oid
            AND o.refclassid = 'pg_class'::regclass AND o.deptype IN ('a', 'i')
        WHERE c.relkind IN ('r', 'S')
            AND coalesce(o.refobjid, c.oid) NOT IN ('queen.schema_migrations'::regclass, 'queen.schema_functions'::regclass)
        ORDER BY c.relname
    LOOP
        PERFORM pg_catalog.pg_extension_config_dump(r.oid, '');
    END LOOP;
END
$regent$;`
)

// WriteExtension writes the extension regent into the folder dir, which it
// creates: the control file, the script that installs this version, and one
// that updates to it from every published one. The files are fit for the folder
// "extension" below pg_config --sharedir.
func WriteExtension(dir string) error {
	src, err := builtin()
	if err != nil {
		return err
	}
	return writeExtension(dir, src, publishedExtensions())
}

func writeExtension(dir string, src source, published []extensionVersion) error {
	t, err := src.read()
	if err != nil {
		return err
	}
	version := t.extension()
	for _, old := range published {
		if old.migration > version.migration || old.release >= version.release {
			return fmt.Errorf("extension %s is published already: version %s must have a higher release", old, version)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make extension folder: %w", err)
	}
	write := func(name string, print func(*bufio.Writer)) {
		err = errors.Join(err, writeFile(filepath.Join(dir, name), print))
	}
	write("regent.control", func(b *bufio.Writer) { fmt.Fprintf(b, extensionControl, version) })
	write(fmt.Sprintf("regent--%s.sql", version), func(b *bufio.Writer) { printExtension(b, t) })
	for _, old := range published {
		write(fmt.Sprintf("regent--%s--%s.sql", old, version), func(b *bufio.Writer) { printExtensionUpdate(b, t, old) })
	}
	return err
}

func writeFile(name string, print func(*bufio.Writer)) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	b := bufio.NewWriter(f)
	print(b)
	if err := errors.Join(b.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write extension: %w", err)
	}
	return nil
}

func printExtension(b *bufio.Writer, t target) {
	fmt.Fprintf(b, extensionCreateHeader, t.extension())
	fmt.Fprintf(b, refuseServer, MinServerVersion, LockID)
	fmt.Fprint(b, refuseUsedSchema, extensionTimezone, printMigrations)
	printTables(b, t, 0)
	printFunctions(b, t)
	fmt.Fprintf(b, "%s\n\n%s\n\n%s\n", sqlValidate, sqlRecord(t), extensionMarkTables)
}

func printExtensionUpdate(b *bufio.Writer, t target, old extensionVersion) {
	fmt.Fprintf(b, extensionUpdateHeader, old, t.extension(), old.migration)
	fmt.Fprintf(b, refuseServer, MinServerVersion, LockID)
	fmt.Fprint(b, extensionTimezone)
	printTables(b, t, old.migration)
	// A script cannot try first whether a helper has changed its result type, as the loader does.
	fmt.Fprintf(b, "%s\n\n", sqlDropPrivate)
	printFunctions(b, t)
	fmt.Fprintf(b, "%s\n\n%s\n\n%s\n\n%s\n\n%s\n",
		sqlValidate, extensionRefuseSavepoint, sqlDropLeftovers, sqlRecord(t), extensionMarkTables)
}
