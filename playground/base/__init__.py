"""What everything stands on: limits, keys, threads, tasks, jobs, logs and metrics."""
