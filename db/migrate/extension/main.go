// Command extension writes the PostgreSQL extension regent into a folder: the
// one that its argument names. "make extension" runs it. It must never connect
// to a database nor write into the folders of an installed PostgreSQL by itself.
package main

import (
	"fmt"
	"os"

	"regent.local/regent/db/migrate"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: extension FOLDER")
		os.Exit(1)
	}
	if err := migrate.WriteExtension(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
