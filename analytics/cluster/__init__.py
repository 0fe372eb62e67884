"""The main job on several machines: partitions read, replayed and written by workers, merged by the one that asked."""
