"""The only room that speaks OpenSearch: mapping, documents, queries, pages, look-ups and generations."""
