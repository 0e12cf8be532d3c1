"""Finding documents: files, folders, lists, archives and remote places, without opening any."""
