//! Bytes as hexadecimal text.

use std::fmt::Write;

/// The bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that these hexadecimal digits are.
pub(crate) fn bytes_from_hex(text: &str) -> Result<Vec<u8>, String> {
    let error = || format!("{text:?} is no hexadecimal text of whole bytes");
    let digits: Option<Vec<u32>> = text.chars().map(|char| char.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).ok_or_else(error)?;
    digits.chunks_exact(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).map_err(|_| error())).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes_from_hex, hex};

    #[test]
    fn bytes_read_back_from_their_text() {
        assert_eq!(hex(&[0, 0x9f, 255]), "009fff");
        assert_eq!(bytes_from_hex("009fFF"), Ok(vec![0, 0x9f, 255]));
    }

    #[test]
    fn text_that_is_no_bytes_is_refused() {
        for text in ["0", "0x", "é0", "123"] {
            assert!(bytes_from_hex(text).is_err(), "{text}");
        }
    }
}
