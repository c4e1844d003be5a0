"""Files: reading text, writing whole files or nothing, JSON, and results with a checksum."""
