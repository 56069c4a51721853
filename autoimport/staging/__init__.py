"""When a call becomes a graph: sites, guards, traces, launches."""
