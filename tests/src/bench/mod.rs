//! The service beside what the same libraries can do at best: what each action, match and start costs.
//!
//! A [`Subject`] is what is measured: the service under some load, a bare gRPC server, the disk. A [`Row`] is a bar: figures of
//! a subject, mostly divided by those of another one, its baseline. All that is known of rows is data, in `bars.rs`. A
//! [`Run`] measures all subjects that its rows need, one after the other and again in each round, so that what
//! else the machine does meets them all.
//!
//! The server is this program again, in a process of its own on the machine's first core (see [`serve`]); the clients have the second one.
//! Each has a runtime of one thread. The clients are as lean as honest clients can be: they know no rules, read of a message only what they
//! need, and check that nothing is missing. What comes with another number than it should have, or without a receipt, ends the run.

mod against;
mod appends;
mod bars;
mod calls;
mod census;
mod codec;
mod compared;
mod cores;
mod creation;
mod echo;
mod fdatasync;
mod figure;
mod gate;
mod idle;
pub mod instructions;
mod load;
mod machine;
mod markdown;
mod matches;
mod memory;
mod message;
mod meter;
mod planted;
mod play;
mod player;
mod readers;
mod ready;
mod relay;
mod report;
mod restart;
mod row;
mod rules;
mod run;
mod sample;
mod sdk;
mod serve;
mod server;
mod setting;
mod socket;
mod spread;
mod subject;
mod table;
mod unary;

pub use against::in_turn;
pub use bars::{ROWS, planted};
pub use compared::{Compared, compared, holds_in_turn};
pub use cores::{CLIENT_CORE, pin};
pub use figure::{Figure, Figures};
pub use load::{Journaled, Matches, Via, Views};
pub use machine::Machine;
pub use markdown::markdown;
pub use planted::Planted;
pub use report::{Report, RowReport, SCHEMA, SubjectReport};
pub use row::{Better, Row, UnknownRow, select};
pub use run::Run;
pub use serve::{Role, serve};
pub use setting::{Scale, Setting};
pub use subject::Subject;
pub use table::{missed, table};
