//! Clients that are all alike, on a few connections.

use std::sync::Arc;

use tokio::task::JoinSet;
use tonic::transport::Channel;

use super::meter::Meter;

/// So many of a client on these channels, each with its number, from 0.
pub(super) fn spread<F>(
    channels: &[Channel],
    many: usize,
    meter: &Arc<Meter>,
    client: impl Fn(usize, Channel, Arc<Meter>) -> F,
) -> JoinSet<()>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let mut clients = JoinSet::new();
    for (number, channel) in channels.iter().cycle().take(many).enumerate() {
        let (client, meter) = (client(number, channel.clone(), Arc::clone(meter)), Arc::clone(meter));
        clients.spawn(async move {
            if let Err(error) = client.await {
                meter.fail(&format!("{error:#}"));
            }
        });
    }
    clients
}
