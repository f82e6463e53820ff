"""Downloads: jobs that buy them page by page, and the files that come of it."""
