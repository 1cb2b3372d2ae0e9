package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"regent.local/regent/api"
)

func newOpenAPICmd() *cobra.Command {
	var edition, format string
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of this version's HTTP API",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := openAPIPath(edition, format)
			if err != nil {
				return err
			}
			text, err := api.OpenAPI(build().Version, path)
			if err != nil {
				return fmt.Errorf("write the OpenAPI document: %w", err)
			}
			return writeAll(cmd.OutOrStdout(), append(bytes.TrimRight(text, "\n"), '\n'))
		},
	}
	cmd.Flags().StringVar(&edition, "openapi", "3.1", "edition of OpenAPI: 3.1 or 3.0")
	cmd.Flags().StringVarP(&format, "output", "o", "yaml", "yaml or json")
	return cmd
}

// openAPIPath is where the server offers the document that the flags describe.
func openAPIPath(edition, format string) (string, error) {
	paths := map[[2]string]string{
		{"3.1", "yaml"}: "/openapi.yaml", {"3.1", "json"}: "/openapi.json",
		{"3.0", "yaml"}: "/openapi-3.0.yaml", {"3.0", "json"}: "/openapi-3.0.json",
	}
	path, ok := paths[[2]string{edition, format}]
	if !ok {
		return "", fmt.Errorf("no document for --openapi %s and -o %s: want 3.1 or 3.0, and yaml or json", edition, format)
	}
	return path, nil
}
