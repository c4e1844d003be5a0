"""Pictures of results: drawing only, of values that are computed elsewhere."""
