//! Seats and team forms.

use zetema_rules::{Seat, Teams};

use super::{FieldError, Wire, wire_enum};

wire_enum! {
    Teams = Teams { Individual, Pairs, Trios }
}

impl Wire for Seat {
    type Message = u32;

    fn to_wire(&self) -> u32 {
        #[allow(clippy::cast_possible_truncation)]
        let index = self.index() as u32;
        index
    }

    fn from_wire(message: &u32) -> Result<Self, FieldError> {
        let seat = usize::try_from(*message).ok().and_then(Self::new);
        seat.ok_or_else(|| FieldError::invalid("", format!("{message} is no seat: give 0 to 5")))
    }
}
