//! The fields of an encoded message, in order.

/// Bytes that only the decoder of all messages understands, or nobody.
#[derive(Debug)]
pub(super) struct NotPlain;

pub(super) type Plain<T> = Result<T, NotPlain>;

/// The value of a field.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message in ascending order, as encoders write them. In any other order a later field might replace an
/// earlier one, or be added to it.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    last: u32,
    /// The fields that may come again and again, a bit for each.
    repeated: u32,
}

impl<'a> Fields<'a> {
    /// Those of a message in which each comes once at most.
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self::with_repeated(bytes, &[])
    }

    /// Those of a message in which these may come again and again.
    pub(super) const fn with_repeated(bytes: &'a [u8], fields: &[u32]) -> Self {
        let (mut repeated, mut i) = (0, 0);
        while i < fields.len() {
            repeated |= 1 << fields[i];
            i += 1;
        }
        Self { rest: bytes, last: 0, repeated }
    }

    /// What was not read yet.
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next field: its number and its value. `None` at the end.
    #[expect(clippy::inline_always, reason = "it is half of all that reading a message takes")]
    #[inline(always)]
    pub(super) fn next(&mut self) -> Plain<Option<(u32, Value<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = number(&mut self.rest)?;
        let field = u32::try_from(key >> 3).map_err(|_| NotPlain)?;
        let again = field == self.last && field < u32::BITS && self.repeated & 1 << field != 0;
        if field <= self.last && !again {
            return Err(NotPlain);
        }
        self.last = field;
        let value = match key & 7 {
            0 => Value::Number(number(&mut self.rest)?),
            2 => {
                let length = usize::try_from(number(&mut self.rest)?).map_err(|_| NotPlain)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(NotPlain)?;
                self.rest = rest;
                Value::Bytes(bytes)
            }
            _ => return Err(NotPlain),
        };
        Ok(Some((field, value)))
    }
}

/// The field of a message that has one and no other.
pub(super) fn only(bytes: &[u8]) -> Plain<(u32, Value<'_>)> {
    let mut fields = Fields::of(bytes);
    match (fields.next()?, fields.next()?) {
        (Some(field), None) => Ok(field),
        _ => Err(NotPlain),
    }
}

/// A number at the beginning of these bytes, which it is taken from. Most have one byte.
#[inline]
pub(super) fn number(bytes: &mut &[u8]) -> Plain<u64> {
    match **bytes {
        [byte, ref rest @ ..] if byte < 0x80 => {
            *bytes = rest;
            Ok(byte.into())
        }
        _ => long_number(bytes),
    }
}

fn long_number(bytes: &mut &[u8]) -> Plain<u64> {
    let mut number = 0;
    // The tenth byte of a number has one bit: so large ones are not plain.
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(NotPlain)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(NotPlain)
}

/// A number as narrow as it is kept.
pub(super) fn narrow<T: TryFrom<u64>>(number: u64) -> Plain<T> {
    T::try_from(number).map_err(|_| NotPlain)
}

/// The numbers of a list, as narrow as they are kept.
pub(super) fn numbers<T: TryFrom<u64>>(mut bytes: &[u8]) -> Plain<Vec<T>> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(narrow(number(&mut bytes)?)?);
    }
    Ok(numbers)
}
