//! What whoever follows standings is told, and when.

use tokio::time::timeout;

use super::*;
use crate::ladders::tests::{LADDER, Scene};

/// Longer than anything here is put off.
const LONG: Duration = Duration::from_mins(10);

/// The next message, as its number and its rows.
async fn told(watching: Watching) -> (u64, Kind, Watching) {
    let next = timeout(LONG, next(Some(watching))).await.expect("something is told");
    let Some((Ok(v1::WatchStandingsResponse { result_number, kind }), Some(watching))) = next else {
        panic!("the stream ended")
    };
    (result_number, kind.unwrap(), watching)
}

/// The same without what follows from luck, and of how many matches that is.
fn apart(standings: Vec<v1::Standing>) -> (Vec<v1::Standing>, Vec<Option<u64>>) {
    let apart = |mut standing: v1::Standing| {
        let matches = standing.points.take().map(|points| points.matches);
        let rated = standing.luck_adjusted_rating.take();
        assert_eq!(rated.map(|rated| rated.matches), matches, "both are of the same matches");
        (standing, matches)
    };
    standings.into_iter().map(apart).unzip()
}

#[tokio::test(start_paused = true)]
async fn luck_that_is_computed_later_is_told_once_beside_the_ratings_as_they_are() {
    let scene = Scene::new().await;
    let waiting = (scene.comes("ann").await, scene.comes("bob").await);
    let seats = [scene.seated("ann", 1).await[0], scene.seated("bob", 1).await[0]];
    scene.join("ann", seats[0]).await;
    scene.join("bob", seats[1]).await;
    // While the server is late nothing is computed, and the match is rated.
    scene.pressure.pretend(Duration::from_secs(1));
    scene.resign("bob", seats[1]).await;
    scene.shows(|picture| picture.rated_matches == 1).await;
    drop(waiting);

    let (_, picture) = scene.ladders.picture(LADDER).unwrap();
    let luck = scene.ladders.luck(LADDER).unwrap();
    let room = StandingsStreams::default().room(None).unwrap();
    let (number, kind, watching) = told(Watching::new(picture, luck, Drain::default(), room)).await;
    let Kind::All(v1::AllStandings { standings }) = kind else { panic!("{kind:?}") };
    let (rated, points) = apart(standings);
    assert_eq!((number, points), (1, vec![None, None]));

    scene.pressure.pretend(Duration::ZERO);
    let (number, kind, watching) = told(watching).await;
    let Kind::Changed(v1::ChangedStandings { standings }) = kind else { panic!("{kind:?}") };
    let (with_luck, points) = apart(standings);
    assert_eq!((number, with_luck, points), (1, rated, vec![Some(1), Some(1)]));
    assert!(timeout(LONG, next(Some(watching))).await.is_err(), "nothing has changed since");
}
