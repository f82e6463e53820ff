// Reads compose files with the parser that Docker Compose uses, and prints the names of their services.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv, cli.WithProfiles([]string{"*"}))
	if err == nil {
		var project, loadErr = options.LoadProject(context.Background())
		if err = loadErr; err == nil {
			for _, name := range project.ServiceNames() {
				fmt.Println(name)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
