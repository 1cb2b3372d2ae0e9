package api

import "github.com/danielgtaylor/huma/v2"

// registerQueues adds the routes that configure, list and delete queues.
func (s *Server) registerQueues(huma.API) {}
