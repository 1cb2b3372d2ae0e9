package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completionTimeout bounds how long a shell waits for names.
const completionTimeout = 2 * time.Second

// lister answers names to complete with.
type lister func(ctx context.Context, cmd *cobra.Command) ([]string, error)

// completeNames makes the commands complete what their usage and their flags
// name: queues and groups of where the command would go, and contexts.
func completeNames(cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		completeNames(child)
	}
	flags := map[string]lister{"group": groupNames, "context": contextNamesOf,
		"mode": fixedWords("merge", "replace"), "status": fixedWords("completed", "failed", "retry", "dlq"), "role": fixedWords(keyRoles...)}
	if cmd.Name() != "openapi" {
		flags["output"] = fixedWords("table", "json", "ndjson", "yaml")
	}
	if cmd.HasParent() && cmd.Parent().Name() == "message" {
		flags["status"] = fixedWords("pending", "processing", "completed", "dead_letter")
	}
	for name, list := range flags {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
				return complete(cmd, list)
			})
		}
	}
	if lists := argumentLists(cmd); lists != nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) >= len(lists):
				return nil, cobra.ShellCompDirectiveNoFileComp
			case lists[len(args)] == nil: // a file
				return nil, cobra.ShellCompDirectiveDefault
			}
			return complete(cmd, lists[len(args)])
		}
	}
}

// argumentLists are the listers of a command's arguments, by their words in its
// usage; nil when it has none that is known.
func argumentLists(cmd *cobra.Command) (lists []lister) {
	parent := ""
	if cmd.HasParent() {
		parent = cmd.Parent().Name()
	}
	for _, word := range strings.Fields(cmd.Use)[1:] {
		switch word = strings.Trim(word, "[]"); {
		case word == "QUEUE", word == "NAME" && parent == "queue":
			lists = append(lists, queueNames)
		case word == "GROUP":
			lists = append(lists, groupNames)
		case word == "NAME" && parent == "context":
			lists = append(lists, contextNamesOf)
		case word == "FILE" && len(lists) > 0:
			lists = append(lists, nil)
		}
	}
	return lists
}

// complete offers names, or nothing when they cannot be had: a shell has no place
// for errors.
func complete(cmd *cobra.Command, list lister) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	names, err := list(ctx, cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func fixedWords(all ...string) lister {
	return func(context.Context, *cobra.Command) ([]string, error) { return all, nil }
}

func contextNamesOf(context.Context, *cobra.Command) ([]string, error) {
	f, err := loadContexts()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(f.Contexts)), nil
}

func queueNames(ctx context.Context, cmd *cobra.Command) (names []string, err error) {
	c, err := completionClient(ctx, cmd)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	text, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	var list struct{ Queues []queueInfo }
	err = json.Unmarshal(text, &list)
	for _, q := range list.Queues {
		names = append(names, q.Name)
	}
	return names, err
}

func groupNames(ctx context.Context, cmd *cobra.Command) ([]string, error) {
	c, err := completionClient(ctx, cmd)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	text, err := c.Groups(ctx)
	if err != nil {
		return nil, err
	}
	var list []groupInfo
	err = json.Unmarshal(text, &list)
	names := map[string]bool{}
	for _, g := range list {
		names[g.Name] = true
	}
	return slices.Sorted(maps.Keys(names)), err
}

// completionClient goes where the command would go, by the flags given so far.
func completionClient(ctx context.Context, cmd *cobra.Command) (client, error) {
	if err := refuseEmptyAddress(cmd); err != nil {
		return nil, err
	}
	value := func(flag string) string {
		if f := cmd.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	target := targetFlags{url: value("url"), dsn: value("dsn"), token: value("token")}
	if folder := value("data-dir"); folder != "" {
		f := tailFlags{target: target, dataDir: folder}
		dsn, err := f.resolveDSN(cmd)
		if err != nil {
			return nil, err
		}
		target.dsn = dsn
	}
	return target.open(ctx, cmd)
}
