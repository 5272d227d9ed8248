//! A server's page of metrics.

use anyhow::Result;
use zetema_load::scrape::Page;

use crate::args::AddressArgs;
use crate::client;

/// The page of the server at this address.
pub(crate) async fn page(address: &AddressArgs) -> Result<Page> {
    Ok(Page::new(client::channel(address).await?))
}
