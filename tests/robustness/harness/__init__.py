"""Running many programs in processes with limits on memory and processor time, and finding the smallest one that fails."""
