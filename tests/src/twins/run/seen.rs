//! What the observer, a spectator and a reader of lists and metrics see of a game.

use prost::Message;
use rand::RngExt;
use tokio::time::sleep;
use zetema_proto::v1;
use zetema_proto::v1::play_request::Kind as Ask;
use zetema_proto::v1::play_response::Kind as Answer;
use zetema_rules::{Seat, Viewer};
use zetema_service::journal::{Journal, MatchId};
use zetema_service::limits::{METRICS_UPKEEP_INTERVAL, METRICS_UPKEEP_RECORDS};
use zetema_service::metrics::{JOURNAL_COMMITS, JOURNAL_RECORDS, LIVE_MATCHES};

use super::super::http::{Answers, Part, follow, metrics};
use super::super::page::value;
use super::super::tape::{Kind, Truth, leaking};
use super::super::world::settle;
use super::Run;

/// An answer that goes on, and whose eyes it is for.
pub(super) struct Followed {
    pub(super) what: &'static str,
    pub(super) kind: Kind,
    pub(super) viewer: Viewer,
    pub(super) answers: Answers,
}

impl Run<'_> {
    /// Asks for something that everyone, or the observer, may see.
    pub(super) async fn look(&mut self, what: &'static str, bearer: Option<&str>, message: &impl Message) {
        let reply = self.ask(what, bearer, message).await;
        self.tape.note(what, reply.bytes);
    }

    pub(super) async fn follow_seat(&mut self, seat: Seat, after_seq: Option<u64>, views: Option<i32>) {
        let seats = vec![v1::ObserveSeat {
            seat_token: self.token(seat).to_owned(),
            after_seq,
            views,
            assigned: None,
        }];
        let request = v1::ObserveRequest { seats }.encode_to_vec();
        let answers = follow(&self.world.server, "PlayService/Observe", None, &request).await;
        let viewer = Viewer::Seat(seat);
        self.followed.push(Followed { what: "PlayService/Observe", kind: Kind::Observe, viewer, answers });
    }

    pub(super) async fn watch(&mut self, after_seq: Option<u64>) {
        let request = v1::WatchMatchRequest { match_id: self.match_id.clone(), after_seq, views: None };
        let request = request.encode_to_vec();
        let answers = follow(&self.world.server, "MatchService/WatchMatch", None, &request).await;
        let viewer = Viewer::Spectator;
        self.followed.push(Followed { what: "MatchService/WatchMatch", kind: Kind::Watch, viewer, answers });
    }

    /// Reads something that can be read at any time.
    pub(super) async fn look_around(&mut self) {
        let which = self.random.random_range(0..12);
        self.look_at(which).await;
    }

    /// Reads everything that can be read, when the server has brought its metrics up to date.
    pub(super) async fn last_look(&mut self) {
        sleep(METRICS_UPKEEP_INTERVAL).await;
        self.settle().await;
        for which in 0..12 {
            self.look_at(which).await;
        }
        self.pass_upkeep().await;
        let (page, stats) = (metrics(&self.world.server).await, self.world.journal.stats());
        assert!(stats.rows < METRICS_UPKEEP_RECORDS, "else they are brought up to date at other times too");
        let answer = String::from_utf8(page).unwrap();
        let (_, page) = answer.split_once("\n\n").expect("a head and a page");
        // Else it would be no wonder that they are equal.
        assert_eq!(value(page, LIVE_MATCHES), Some(2), "{page}");
        assert_eq!(value(page, JOURNAL_RECORDS), Some(stats.rows), "{page}");
        assert_eq!(value(page, JOURNAL_COMMITS), Some(stats.commits), "{page}");
    }

    /// Pages and the upkeep of the metrics are made on other threads, each beside what is due at the same moment. Time
    /// that stands still waits for both.
    async fn pass_upkeep(&self) {
        while self.started.elapsed().as_millis().is_multiple_of(METRICS_UPKEEP_INTERVAL.as_millis()) {
            settle().await;
        }
    }

    async fn look_at(&mut self, which: u32) {
        let match_id = self.match_id.clone();
        let token = self.observer().map(|seat| self.token(seat).to_owned());
        let bearer = token.as_deref();
        let beyond = self.random.random_range(0..200);
        match which {
            0 => self.look("MatchService/GetMatch", bearer, &v1::GetMatchRequest { match_id }).await,
            1 => self.look("MatchService/GetMatch", None, &v1::GetMatchRequest { match_id }).await,
            2 => self.look("MatchService/ListMatches", bearer, &v1::ListMatchesRequest::default()).await,
            3 => {
                let request = v1::ListMatchesRequest { page_token: "?".to_owned(), ..Default::default() };
                self.look("MatchService/ListMatches", None, &request).await;
            }
            4 => self.look("MatchService/GetRecord", bearer, &v1::GetRecordRequest { match_id }).await,
            5 => self.look("MatchService/ListRecords", bearer, &v1::ListRecordsRequest::default()).await,
            6 => {
                self.pass_upkeep().await;
                let bytes = metrics(&self.world.server).await;
                self.tape.note("metrics", bytes);
            }
            7 => self.watch_for_a_moment(Some(beyond)).await,
            8 => self.watch_for_a_moment(None).await,
            9 | 10 => {
                let Some(seat) = self.observer() else { return };
                let after = (which == 9).then_some(beyond);
                let before = self.followed.len();
                self.follow_seat(seat, after, None).await;
                self.settle().await;
                self.followed.truncate(before);
            }
            _ => {
                let request = v1::ListFaultsRequest {
                    seat_token: token.unwrap_or_default(),
                    ..v1::ListFaultsRequest::default()
                };
                self.look("PlayService/ListFaults", None, &request).await;
            }
        }
    }

    async fn watch_for_a_moment(&mut self, after_seq: Option<u64>) {
        let before = self.followed.len();
        self.watch(after_seq).await;
        self.settle().await;
        self.followed.truncate(before);
    }

    /// Waits until all has happened that follows from what was done, and hears all of it.
    pub(super) async fn settle(&mut self) {
        loop {
            settle().await;
            if !self.hear() {
                return;
            }
        }
    }

    /// Takes down what has come by now. Whether something has.
    fn hear(&mut self) -> bool {
        let mut heard = false;
        let match_id: MatchId = self.match_id.parse().unwrap();
        let records = self.world.journal.records(match_id);
        let truth = Truth { game: &self.model.game, stock: self.model.stock(), records };
        let mut pings = Vec::new();
        for followed in &mut self.followed {
            let mut answers = Vec::new();
            while let Some(part) = followed.answers.ready() {
                heard = true;
                let Followed { what, kind, viewer, .. } = *followed;
                match part {
                    Part::Frame(bytes) => self.tape.note(what, bytes),
                    Part::Message(message) => {
                        let mut answer = false;
                        match kind {
                            Kind::Play => {
                                let said = v1::PlayResponse::decode(message.clone()).unwrap();
                                answer = said.tag != 0;
                                if let Some(Answer::Ping(ping)) = said.kind {
                                    pings.push(ping.number);
                                }
                            }
                            Kind::Watch => {
                                let said = v1::WatchMatchResponse::decode(message.clone()).unwrap();
                                if let Some(v1::watch_match_response::Kind::Observation(seen)) = said.kind {
                                    self.decision = self.decision.max(seen.decision_number);
                                }
                            }
                            Kind::Observe => {}
                        }
                        let bytes = match &mut self.leak {
                            Some(leak) => leaking(&mut **leak, &truth, viewer, kind, &message),
                            None => message.to_vec(),
                        };
                        if answer {
                            answers.push(bytes);
                        } else {
                            self.tape.note(what, bytes);
                        }
                    }
                }
            }
            // Of an answer and an observation that are ready at once, the session sends first which it chances upon.
            for answer in answers {
                self.tape.note("an answer of PlayService/Play", answer);
            }
        }
        for number in pings {
            if let Some(play) = &self.play {
                let kind = Some(Ask::Pong(v1::Pong { number }));
                play.asks.say(&v1::PlayRequest { tag: 0, handle: 0, kind });
            }
        }
        heard
    }
}
