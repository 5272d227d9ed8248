//! The fields of a message, as Protocol Buffers write them: a key, and then a number or so many bytes.

use prost::Message;

/// A number of seven bits takes one byte.
const ONE_BYTE: u64 = 0x80;

/// What a field is (Protocol Buffers, "Encoding").
#[derive(Clone, Copy)]
enum Kind {
    Number = 0,
    Bytes = 2,
}

/// Fields of a message that are written one after the other, in the order of their numbers, as prost does.
pub struct Fields<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> Fields<'a> {
    /// Fields at the end of these bytes.
    pub const fn of(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes }
    }

    /// A field that is there whatever its number is: an `optional` one, and one of a `oneof`.
    pub fn number(&mut self, field: u32, number: impl Into<u64>) {
        self.key(field, Kind::Number);
        self.varint(number.into());
    }

    /// A field that is left out if it is 0, as those are that are not `optional`.
    pub fn unless_zero(&mut self, field: u32, number: impl Into<u64>) {
        let number = number.into();
        if number != 0 {
            self.number(field, number);
        }
    }

    /// A list of numbers, which is left out if there is none.
    pub fn list<N: Into<u64>>(&mut self, field: u32, numbers: impl IntoIterator<Item = N>) {
        let mut numbers = numbers.into_iter().peekable();
        if numbers.peek().is_some() {
            self.message(field, |list| numbers.for_each(|number| list.varint(number.into())));
        }
    }

    /// A message within this one.
    pub fn message(&mut self, field: u32, write: impl FnOnce(&mut Fields<'_>)) {
        self.key(field, Kind::Bytes);
        let start = self.bytes.len();
        // Most are so short that this is the room for their length.
        self.bytes.push(0);
        write(&mut Fields::of(self.bytes));
        let length = (self.bytes.len() - start - 1) as u64;
        if length < ONE_BYTE {
            self.bytes[start] = low_bits(length);
        } else {
            let end = self.bytes.len();
            self.varint(length);
            let of_length = self.bytes.len() - end;
            self.bytes[start..].rotate_right(of_length);
            self.bytes.remove(start + of_length);
        }
    }

    /// All fields of a message that was made.
    pub fn made(&mut self, message: &impl Message) {
        message.encode_raw(self.bytes);
    }

    fn key(&mut self, field: u32, kind: Kind) {
        self.varint((u64::from(field) << 3) | kind as u64);
    }

    fn varint(&mut self, mut number: u64) {
        while number >= ONE_BYTE {
            self.bytes.push(low_bits(number) | 0x80);
            number >>= 7;
        }
        self.bytes.push(low_bits(number));
    }
}

/// The lowest seven bits.
const fn low_bits(number: u64) -> u8 {
    (number & 0x7f) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    #[test]
    fn a_message_of_any_length_is_written_as_by_prost() {
        for length in [0, 1, 125, 126, 127, 128, 129, 300, 16_380, 16_384, 3_000_000] {
            let error = v1::Error { message: "m".repeat(length), ..v1::Error::default() };
            let whole = v1::PlayResponse {
                tag: 0,
                handle: 300,
                kind: Some(v1::play_response::Kind::Rejection(error.clone())),
            };
            let mut bytes = vec![7];
            let mut fields = Fields::of(&mut bytes);
            fields.unless_zero(1, 0_u32);
            fields.number(2, 300_u32);
            fields.message(7, |rejection| rejection.made(&error));
            assert_eq!(bytes, [vec![7], whole.encode_to_vec()].concat(), "{length}");
        }
    }

    #[test]
    fn numbers_of_any_size_are_written_as_by_prost() {
        for number in [1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let clock = v1::Clock { bank_ms: number, ..v1::Clock::default() };
            let mut bytes = Vec::new();
            Fields::of(&mut bytes).unless_zero(2, number);
            assert_eq!(bytes, clock.encode_to_vec());
        }
    }
}
