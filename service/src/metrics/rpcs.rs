//! What is counted of each RPC.

use std::sync::{Arc, OnceLock};

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use prost::Message;
use prost_types::{FileDescriptorSet, MethodDescriptorProto};
use rustc_hash::FxHashMap;
use tokio::time::Instant;
use tonic::Code;
use zetema_proto::FILE_DESCRIPTOR_SET;

use super::{
    Open, RPC_ANSWERS, RPC_MESSAGES_RECEIVED, RPC_MESSAGES_SENT, RPC_REQUESTS, RPC_SECONDS, STREAMS,
};

/// What stands for all that is not ours: health, reflection, and methods that nobody has.
const OTHER: &str = "other";

/// The RPCs, by the path of their requests.
#[derive(Debug)]
pub(crate) struct Rpcs {
    /// All of them from the start: nobody can add some that fall together.
    ours: FxHashMap<String, Arc<Rpc>>,
    other: Arc<Rpc>,
}

impl Rpcs {
    /// Every RPC that our protos describe, counted by the recorder that is installed now.
    ///
    /// # Errors
    /// If the descriptions can't be read.
    pub(crate) fn new() -> Result<Arc<Self>, prost::DecodeError> {
        let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET)?.file;
        let mut ours = FxHashMap::default();
        for file in &files {
            for service in &file.service {
                for method in &service.method {
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    ours.insert(path, Arc::new(Rpc::of(method)));
                }
            }
        }
        Ok(Arc::new(Self { ours, other: Arc::new(Rpc::new(OTHER, Form::Unknown)) }))
    }

    /// A call that begins now. What is around it may give it up.
    pub(crate) fn begin(&self, path: &str, given_up: GivenUp) -> Call {
        let rpc = self.ours.get(path).unwrap_or(&self.other);
        rpc.requests.increment(1);
        Call {
            begun: Instant::now(),
            _open: rpc.open.clone().map(Open::of),
            rpc: Arc::clone(rpc),
            answered: false,
            given_up,
        }
    }
}

/// Whether a call is one request and one answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Unary,
    Stream,
    Unknown,
}

#[derive(Debug)]
struct Rpc {
    name: String,
    requests: Counter,
    /// Those that ended well.
    well: Counter,
    received: Counter,
    sent: Counter,
    /// Of a unary call.
    seconds: Option<Histogram>,
    /// Of a stream.
    open: Option<Gauge>,
}

impl Rpc {
    fn of(method: &MethodDescriptorProto) -> Self {
        let streams = method.client_streaming() || method.server_streaming();
        Self::new(method.name(), if streams { Form::Stream } else { Form::Unary })
    }

    fn new(name: &str, form: Form) -> Self {
        let rpc = name.to_owned();
        let label = || ("rpc", rpc.clone());
        // What is the server's fault is there from the start, so that the first of it is a rise.
        for code in [Code::Internal, Code::Unavailable, Code::Unknown] {
            counter!(RPC_ANSWERS, &[label(), ("code", code_name(code).to_owned())]).absolute(0);
        }
        let open = (form == Form::Stream).then(|| gauge!(STREAMS, &[label()]));
        if let Some(open) = &open {
            open.increment(0.0);
        }
        Self {
            requests: counter!(RPC_REQUESTS, &[label()]),
            well: counter!(RPC_ANSWERS, &[label(), ("code", code_name(Code::Ok).to_owned())]),
            received: counter!(RPC_MESSAGES_RECEIVED, &[label()]),
            sent: counter!(RPC_MESSAGES_SENT, &[label()]),
            seconds: (form == Form::Unary).then(|| histogram!(RPC_SECONDS, &[label()])),
            open,
            name: rpc,
        }
    }

    fn answered(&self, code: Code) {
        if code == Code::Ok {
            self.well.increment(1);
        } else {
            counter!(RPC_ANSWERS, "rpc" => self.name.clone(), "code" => code_name(code)).increment(1);
        }
    }
}

/// With which code a call is answered by what is around it, which gives up whatever would have answered. Empty while it is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenUp(Arc<OnceLock<Code>>);

impl GivenUp {
    /// It is given up with this code. The first counts.
    pub(crate) fn with(&self, code: Code) {
        let _ = self.0.set(code);
    }
}

/// A call or stream, until it is over. Dropped without an answer it was given up, or else cancelled.
#[derive(Debug)]
pub(crate) struct Call {
    rpc: Arc<Rpc>,
    begun: Instant,
    answered: bool,
    given_up: GivenUp,
    _open: Option<Open>,
}

impl Call {
    /// What counts the messages of the client.
    pub(crate) fn received(&self) -> Messages {
        Messages::new(self.rpc.received.clone())
    }

    /// What counts the messages to the client.
    pub(crate) fn sent(&self) -> Messages {
        Messages::new(self.rpc.sent.clone())
    }

    /// The answer begins.
    pub(crate) fn responds(&self) {
        if let Some(seconds) = &self.rpc.seconds {
            seconds.record(self.begun.elapsed().as_secs_f64());
        }
    }

    /// It ends with this code. The first counts.
    pub(crate) fn ends(&mut self, code: Code) {
        if !self.answered {
            self.answered = true;
            self.rpc.answered(code);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let given_up = self.given_up.0.get().copied();
        self.ends(given_up.unwrap_or(Code::Cancelled));
    }
}

/// Counts the messages in the bytes of a body, as they come: before each stand a byte that says whether it is
/// compressed, and four with its length.
#[derive(Debug)]
pub(crate) struct Messages {
    counter: Counter,
    prefix: [u8; 4],
    /// How much of the next prefix has come, its first byte counted.
    known: usize,
    /// Bytes of the message that are still to come.
    left: usize,
}

impl Messages {
    fn new(counter: Counter) -> Self {
        Self { counter, prefix: [0; 4], known: 0, left: 0 }
    }

    /// Takes in the next bytes.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        let mut whole = 0;
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let now = self.left.min(bytes.len());
                self.left -= now;
                bytes = bytes.get(now..).unwrap_or_default();
                continue;
            }
            if let Some(byte) = self.known.checked_sub(1).and_then(|at| self.prefix.get_mut(at)) {
                *byte = *first;
            }
            self.known += 1;
            bytes = rest;
            if self.known > self.prefix.len() {
                self.known = 0;
                self.left = usize::try_from(u32::from_be_bytes(self.prefix)).unwrap_or(usize::MAX);
                whole += 1;
            }
        }
        if whole > 0 {
            self.counter.increment(whole);
        }
    }
}

/// A code as gRPC spells it.
const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;
    use crate::metrics::recorder;

    #[test]
    fn messages_are_counted_however_their_bytes_are_cut() {
        let message =
            |length: usize| [vec![0, 0, 0, 0, u8::try_from(length).unwrap()], vec![7; length]].concat();
        let bytes = [message(3), message(0), message(200), message(1)].concat();
        for size in 1..=bytes.len() {
            let recorder = recorder().unwrap();
            metrics::with_local_recorder(&recorder, || {
                let mut messages = Messages::new(counter!("counted"));
                bytes.chunks(size).for_each(|piece| messages.take(piece));
            });
            assert!(recorder.handle().render().contains("counted 4\n"), "in pieces of {size}");
        }
    }

    #[test]
    fn a_call_that_is_dropped_was_cancelled_and_one_that_is_answered_ends_once() {
        let recorder = recorder().unwrap();
        let _open = metrics::with_local_recorder(&recorder, || {
            let rpcs = Rpcs::new().unwrap();
            let mut answered = rpcs.begin("/zetema.v1.MatchService/GetMatch", GivenUp::default());
            answered.responds();
            answered.ends(Code::NotFound);
            answered.ends(Code::Ok);
            drop(answered);
            drop(rpcs.begin("/zetema.v1.PlayService/Play", GivenUp::default()));
            drop(rpcs.begin("/grpc.health.v1.Health/Check", GivenUp::default()));
            rpcs.begin("/zetema.v1.PlayService/Play", GivenUp::default())
        });
        let page = recorder.handle().render();
        for line in [
            r#"zetema_rpc_requests_total{rpc="GetMatch"} 1"#,
            r#"zetema_rpc_answers_total{rpc="GetMatch",code="NOT_FOUND"} 1"#,
            r#"zetema_rpc_answers_total{rpc="GetMatch",code="OK"} 0"#,
            r#"zetema_rpc_seconds_count{rpc="GetMatch"} 1"#,
            r#"zetema_rpc_answers_total{rpc="Play",code="CANCELLED"} 1"#,
            r#"zetema_streams{rpc="Play"} 1"#,
            r#"zetema_rpc_answers_total{rpc="other",code="CANCELLED"} 1"#,
        ] {
            assert!(page.contains(&format!("{line}\n")), "no {line} in {page}");
        }
    }
}
