//! What of a commit is for the database, as it stands in a frame: integers are big-endian, bytes follow their length in four, and what may be
//! absent follows a byte 0 or 1.

use bytes::Bytes;

use super::frame::Kind;
use crate::journal::{
    BodyHash, Caller, ClientReference, Listing, MatchId, Owner, RecordBytes, Request, RequestId, RequestKey,
    Response, ResultNumber, Summary, UnixMillis, Version, Visibility,
};

/// What is to be put into the database.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// A match has ended.
    Finish {
        number: ResultNumber,
        match_id: MatchId,
        version: Version,
        listing: Listing,
        finished_at: UnixMillis,
        summary: Summary,
        record: RecordBytes,
    },
    /// A request that named itself was answered.
    Request { request: Request, now: UnixMillis },
}

impl Entry {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Finish { .. } => Kind::Finish,
            Self::Request { .. } => Kind::Request,
        }
    }

    /// About how many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Finish { summary, record, .. } => summary.as_bytes().len() + record.as_bytes().len(),
            Self::Request { request, .. } => request.response.as_bytes().len(),
        }
    }

    /// Writes it into an emptied buffer.
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        to.clear();
        match self {
            Self::Finish { number, match_id, version, listing, finished_at, summary, record } => {
                let Listing { owner, visibility, client_reference } = listing;
                to.extend_from_slice(&number.get().to_be_bytes());
                to.extend_from_slice(match_id.as_bytes());
                to.extend_from_slice(&version.get().to_be_bytes());
                to.extend_from_slice(&finished_at.get().to_be_bytes());
                to.push(match visibility {
                    Visibility::Private => 1,
                    Visibility::Public => 2,
                });
                optional(to, owner.as_ref().map(Owner::as_str));
                optional(to, client_reference.as_ref().map(ClientReference::as_str));
                bytes(to, summary.as_bytes());
                bytes(to, record.as_bytes());
            }
            Self::Request { request, now } => {
                let Request { key: RequestKey { caller, request_id, body_hash }, response } = request;
                to.extend_from_slice(&now.get().to_be_bytes());
                to.extend_from_slice(&body_hash.0);
                bytes(to, caller.as_str().as_bytes());
                bytes(to, request_id.as_str().as_bytes());
                bytes(to, response.as_bytes());
            }
        }
    }

    /// What was written; `None` if it is nothing that was.
    pub(crate) fn decode(kind: Kind, entry: &[u8]) -> Option<Self> {
        let mut read = Read(entry);
        let entry = match kind {
            Kind::Row | Kind::Trial => return None,
            Kind::Finish => {
                let number = ResultNumber::new(u64::from_be_bytes(read.part()?));
                let match_id = MatchId::from_bytes(read.part()?);
                let version = Version::new(u32::from_be_bytes(read.part()?));
                let finished_at = UnixMillis::new(u64::from_be_bytes(read.part()?));
                let visibility = match read.part()? {
                    [1] => Visibility::Private,
                    [2] => Visibility::Public,
                    _ => return None,
                };
                let Absent(owner) = read.optional(Owner::new)?;
                let Absent(client_reference) = read.optional(ClientReference::new)?;
                let summary = Summary::new(read.bytes()?).ok()?;
                let record = RecordBytes::new(read.bytes()?).ok()?;
                let listing = Listing { owner, visibility, client_reference };
                Self::Finish { number, match_id, version, listing, finished_at, summary, record }
            }
            Kind::Request => {
                let now = UnixMillis::new(u64::from_be_bytes(read.part()?));
                let body_hash = BodyHash(read.part()?);
                let caller = Caller::new(read.text()?).ok()?;
                let request_id = RequestId::new(read.text()?).ok()?;
                let response = Response::new(read.bytes()?).ok()?;
                let key = RequestKey { caller, request_id, body_hash };
                Self::Request { request: Request { key, response }, now }
            }
        };
        read.0.is_empty().then_some(entry)
    }
}

fn bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    // The journal's values have bounds far below four gigabytes.
    to.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    to.extend_from_slice(bytes);
}

fn optional(to: &mut Vec<u8>, text: Option<&str>) {
    to.push(u8::from(text.is_some()));
    if let Some(text) = text {
        bytes(to, text.as_bytes());
    }
}

/// What may be absent.
struct Absent<T>(Option<T>);

struct Read<'a>(&'a [u8]);

impl Read<'_> {
    fn part<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (part, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*part)
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let length = usize::try_from(u32::from_be_bytes(self.part()?)).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(Bytes::copy_from_slice(bytes))
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.into()).ok()
    }

    /// What may be absent, made of its text.
    fn optional<T, E>(&mut self, make: impl FnOnce(String) -> Result<T, E>) -> Option<Absent<T>> {
        match self.part()? {
            [0] => Some(Absent(None)),
            [1] => Some(Absent(Some(make(self.text()?).ok()?))),
            _ => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finish(owner: Option<&str>, reference: Option<&str>, visibility: Visibility) -> Entry {
        Entry::Finish {
            number: ResultNumber::new(258),
            match_id: MatchId::from_bytes([7; 16]),
            version: Version::new(3),
            listing: Listing {
                owner: owner.map(|owner| Owner::new(owner).unwrap()),
                visibility,
                client_reference: reference.map(|reference| ClientReference::new(reference).unwrap()),
            },
            finished_at: UnixMillis::new(9),
            summary: Summary::new("summary").unwrap(),
            record: RecordBytes::new("record").unwrap(),
        }
    }

    fn request() -> Entry {
        let caller = Caller::new("caller").unwrap();
        let key =
            RequestKey { caller, request_id: RequestId::new("r").unwrap(), body_hash: BodyHash([4; 32]) };
        let response = Response::new("response").unwrap();
        Entry::Request { request: Request { key, response }, now: UnixMillis::new(5) }
    }

    fn encoded(entry: &Entry) -> Vec<u8> {
        let mut bytes = vec![1, 2, 3];
        entry.encode(&mut bytes);
        bytes
    }

    #[test]
    fn entries_read_back_as_written_and_nothing_else_is_one() {
        for entry in [
            finish(None, None, Visibility::Private),
            finish(Some("owner"), None, Visibility::Public),
            finish(None, Some("reference"), Visibility::Public),
            request(),
        ] {
            let bytes = encoded(&entry);
            assert_eq!(Entry::decode(entry.kind(), &bytes), Some(entry.clone()));
            for length in 0..bytes.len() {
                assert_eq!(Entry::decode(entry.kind(), &bytes[..length]), None, "{length} of {entry:?}");
            }
            assert_eq!(Entry::decode(entry.kind(), &[&bytes[..], &[0]].concat()), None);
            assert_eq!(Entry::decode(Kind::Row, &bytes), None);
        }
    }

    proptest! {
        #[test]
        fn anything_is_read_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            kind in prop_oneof![Just(Kind::Finish), Just(Kind::Request), Just(Kind::Trial)],
        ) {
            if let Some(entry) = Entry::decode(kind, &bytes) {
                prop_assert_eq!(encoded(&entry), bytes);
            }
        }
    }

    /// The format is frozen.
    #[test]
    fn the_format_stays() {
        let finish = [
            &b"\0\0\0\0\0\0\x01\x02"[..],
            &[7; 16],
            b"\0\0\0\x03\0\0\0\0\0\0\0\x09\x02\x01\0\0\0\x05owner\0\0\0\0\x07summary\0\0\0\x06record",
        ];
        assert_eq!(encoded(&self::finish(Some("owner"), None, Visibility::Public)), finish.concat());
        let request =
            [&b"\0\0\0\0\0\0\0\x05"[..], &[4; 32], b"\0\0\0\x06caller\0\0\0\x01r\0\0\0\x08response"];
        assert_eq!(encoded(&self::request()), request.concat());
    }
}
