"""One file per page: what stands where, and nothing else."""
