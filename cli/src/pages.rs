//! Lists that a server gives page by page.

use anyhow::Result;

/// Entries of a page at most, as the server allows.
const MOST_OF_A_PAGE: u32 = 1_000;

/// The first `limit` entries of a list, and whether there are more. `page` asks for so many entries from a page token on:
/// they and the token of the next page, which is empty at the end.
pub(crate) async fn pages<T>(
    limit: u32,
    page: impl AsyncFn(u32, String) -> Result<(Vec<T>, String)>,
) -> Result<(Vec<T>, bool)> {
    let mut all = Vec::new();
    let mut page_token = String::new();
    loop {
        let left = limit.saturating_sub(u32::try_from(all.len()).unwrap_or(u32::MAX));
        if left == 0 {
            return Ok((all, !page_token.is_empty()));
        }
        let (entries, next) = page(left.min(MOST_OF_A_PAGE), page_token).await?;
        all.extend(entries);
        if next.is_empty() {
            return Ok((all, false));
        }
        page_token = next;
    }
}
