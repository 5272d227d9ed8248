//! A proxy between a client and a server that does one fault to one HTTP/2 frame, or lets connections fall silent.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests fails the test by panicking"
)]

mod direction;
mod fault;
mod frame;
mod messages;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use direction::{Link, pass_on};
pub use fault::{DELAY, Direction, Fault, Plan};
pub use frame::Frame;
pub use messages::{Call, calls};

/// A frame that went through a proxy.
#[derive(Clone)]
pub struct Passed {
    /// The connection, from 1.
    pub connection: u64,
    /// Whose it is.
    pub direction: Direction,
    /// The frame.
    pub frame: Frame,
}

/// How many frames each side sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The client.
    pub to_server: u64,
    /// The server.
    pub to_client: u64,
}

impl Counts {
    /// So many in each direction, or more.
    #[must_use]
    pub fn at_least(self, frames: u64) -> Self {
        Self { to_server: self.to_server.max(frames), to_client: self.to_client.max(frames) }
    }

    /// The frames of a direction.
    pub const fn of(self, direction: Direction) -> u64 {
        match direction {
            Direction::ToServer => self.to_server,
            Direction::ToClient => self.to_client,
        }
    }
}

/// A proxy. It stops when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    link: Arc<Link>,
    connections: watch::Receiver<u64>,
    stop: CancellationToken,
}

impl Proxy {
    /// A proxy on a free port in front of this server. Without a plan it passes everything on as it is.
    ///
    /// # Panics
    /// If the system gives no port.
    pub async fn start(server: SocketAddr, plan: Option<Plan>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let link = Arc::new(Link::new(plan));
        let stop = CancellationToken::new();
        let (count, connections) = watch::channel(0);
        let taking = take_connections(listener, server, Arc::clone(&link), count, stop.clone());
        tokio::spawn(stop.clone().run_until_cancelled_owned(taking));
        Self { address, link, connections, stop }
    }

    /// Lets every connection that was made up to now fall silent, as when the machine at its other end is gone: what
    /// either side says is lost, and neither hears of an end, not even when the other closes. Later ones are whole.
    pub fn fall_silent(&self) {
        self.link.fall_silent();
    }

    /// Waits until so many connections have been made.
    ///
    /// # Panics
    /// If the proxy has failed.
    pub async fn connections(&self, count: u64) {
        let mut connections = self.connections.clone();
        connections.wait_for(|made| *made >= count).await.expect("the proxy runs");
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The proxy's address, as clients write it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many frames have come.
    pub fn counts(&self) -> Counts {
        Counts {
            to_server: self.link.to_server.load(Ordering::Relaxed),
            to_client: self.link.to_client.load(Ordering::Relaxed),
        }
    }

    /// The frame that the fault was done to, once it was.
    pub fn struck(&self) -> Option<Frame> {
        self.link.struck.get().cloned()
    }

    /// What the client sent, and what was passed on to it, in order. A frame that was duplicated is here once.
    pub fn passed(&self) -> Vec<Passed> {
        self.link.passed.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn take_connections(
    listener: TcpListener,
    server: SocketAddr,
    link: Arc<Link>,
    connections: watch::Sender<u64>,
    stop: CancellationToken,
) {
    let mut connection = 0;
    loop {
        let (client, _) = listener.accept().await.unwrap();
        // A server that is down: the client finds its connection closed.
        let Ok(server) = TcpStream::connect(server).await else { continue };
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        let (closed, silence) = (stop.child_token(), link.silence());
        connection += 1;
        connections.send_replace(connection);
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        for (direction, from, to) in
            [(Direction::ToServer, from_client, to_server), (Direction::ToClient, from_server, to_client)]
        {
            let (link, silence) = (Arc::clone(&link), silence.clone());
            let passing = pass_on(link, connection, direction, from, to, closed.clone(), silence);
            tokio::spawn(closed.clone().run_until_cancelled_owned(passing));
        }
    }
}
