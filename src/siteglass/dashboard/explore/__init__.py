"""The Explore page: people find, judge and buy leads in the browser."""
