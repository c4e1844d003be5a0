"""Work in processes and threads of this machine."""
