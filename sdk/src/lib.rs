//! Write a bot: the Bot trait, a session that reconnects and resumes, and local play for search.
