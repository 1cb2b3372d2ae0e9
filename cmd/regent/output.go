package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"golang.org/x/term"
)

// outputFormat is the value of -o. The zero value means a table on a terminal
// and JSON in a pipe.
type outputFormat string

func (f *outputFormat) Set(s string) error {
	switch s {
	case "table", "json", "ndjson", "yaml":
		*f = outputFormat(s)
		return nil
	}
	return fmt.Errorf("want table, json, ndjson or yaml")
}

func (f *outputFormat) String() string { return string(*f) }
func (f *outputFormat) Type() string   { return "format" }

func (f *outputFormat) addFlag(cmd *cobra.Command) {
	cmd.Flags().VarP(f, "output", "o", "table, json, ndjson or yaml (default: table on a terminal, json in a pipe)")
}

// addLineFlag is addFlag for a command that writes line by line in a pipe.
func (f *outputFormat) addLineFlag(cmd *cobra.Command) {
	cmd.Flags().VarP(f, "output", "o", "table, json, ndjson or yaml (default: table on a terminal, ndjson in a pipe)")
}

// resolve returns the format to use for out; piped replaces json in a pipe.
func (f outputFormat) resolve(out io.Writer, piped outputFormat) outputFormat {
	switch {
	case f != "":
		return f
	case isTerminal(out):
		return "table"
	}
	return piped
}

// print writes doc, whose JSON form is what scripts read, or asTable's result.
func (f outputFormat) print(cmd *cobra.Command, doc any, asTable func() table) error {
	return f.printList(cmd, doc, []any{doc}, asTable)
}

// printList is print for a document of which ndjson writes only the items.
func (f outputFormat) printList(cmd *cobra.Command, doc any, items []any, asTable func() table) error {
	out := cmd.OutOrStdout()
	switch f.resolve(out, "json") {
	case "table":
		return asTable().write(out)
	case "ndjson":
		for _, item := range items {
			if err := writeLine(out, item); err != nil {
				return err
			}
		}
		return nil
	case "yaml":
		return writeYAML(out, doc)
	}
	return writeJSON(out, doc, "  ")
}

// writeLine writes one item of ndjson; messages know how, without touching their payload.
func writeLine(out io.Writer, item any) error {
	own, ok := item.(interface{ line() ([]byte, error) })
	if !ok {
		return writeJSON(out, item, "")
	}
	text, err := own.line()
	if err != nil {
		return err
	}
	return writeAll(out, text)
}

// writeJSON writes one document and a newline. Payloads keep their text but for
// white space.
func writeJSON(out io.Writer, doc any, indent string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return writeAll(out, buf.Bytes())
}

// writeYAML goes through JSON, which keeps the order of keys and the names.
func writeYAML(out io.Writer, doc any) error {
	var buf bytes.Buffer
	if err := writeJSON(&buf, doc, ""); err != nil {
		return err
	}
	var node yaml.Node
	if err := yaml.Unmarshal(buf.Bytes(), &node); err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	blockStyle(&node)
	text, err := yaml.Marshal(&node)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return writeAll(out, text)
}

func blockStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		blockStyle(child)
	}
}

func writeAll(out io.Writer, text []byte) error {
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// table is what a person reads: a header, unless empty, and rows.
type table struct {
	header []string
	rows   [][]string
}

// sentence is a table without columns.
func sentence(lines ...string) table {
	var t table
	for _, l := range lines {
		t.rows = append(t.rows, []string{l})
	}
	return t
}

func (t table) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	if len(t.header) > 0 {
		fmt.Fprintln(w, strings.Join(t.header, "\t"))
	}
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// oneLine makes text fit for a table cell of at most width characters.
func oneLine(text string, width int) string {
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	runes := []rune(printable)
	if len(runes) <= width {
		return printable
	}
	return string(runes[:width-1]) + "…"
}

// confirm asks on a terminal; without one the answer is no.
func confirm(cmd *cobra.Command, question string) bool {
	if !isTerminal(cmd.InOrStdin()) || !isTerminal(cmd.ErrOrStderr()) {
		return false
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(cmd.InOrStdin(), &answer)
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
