//! The places of matches that are not over: so many in all, and so many of one owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::CreateError;
use crate::journal::Owner;
use crate::tally::Tally;

/// The places. They are taken before a match is stored, so that those who create at the same moment don't take more than
/// there are.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    most_of_owner: usize,
    taken: Mutex<Tally<Owner>>,
}

/// The place of one match, until it is over.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    owner: Option<Owner>,
}

impl Places {
    pub(super) fn new(most: usize, most_of_owner: usize) -> Self {
        Self { most, most_of_owner, taken: Mutex::default() }
    }

    /// A place for a new match of each of these owners, or none. Those of the admin have no owner, and count in all alone.
    pub(super) fn take(self: &Arc<Self>, owners: Vec<Option<Owner>>) -> Result<Vec<Place>, CreateError> {
        let mut taken = self.taken();
        if taken.all().saturating_add(owners.len()) > self.most {
            return Err(CreateError::TooManyMatches { limit: self.most });
        }
        let mut wanted: HashMap<&Owner, usize> = HashMap::new();
        for owner in owners.iter().flatten() {
            *wanted.entry(owner).or_default() += 1;
        }
        if wanted.iter().any(|(owner, new)| taken.of(*owner) + new > self.most_of_owner) {
            return Err(CreateError::TooManyOfOwner { limit: self.most_of_owner });
        }
        Ok(owners.into_iter().map(|owner| self.give(&mut taken, owner)).collect())
    }

    /// A place for a match that runs already: it has one, whatever the bounds are now.
    pub(super) fn keep(self: &Arc<Self>, owner: Option<Owner>) -> Place {
        self.give(&mut self.taken(), owner)
    }

    /// How many an owner has taken.
    pub(super) fn count(&self, owner: &Owner) -> usize {
        self.taken().of(owner)
    }

    fn give(self: &Arc<Self>, taken: &mut Tally<Owner>, owner: Option<Owner>) -> Place {
        taken.add(owner.clone());
        Place { places: Arc::clone(self), owner }
    }

    fn taken(&self) -> MutexGuard<'_, Tally<Owner>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().remove(self.owner.as_ref());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_with_as_many_matches_as_it_may_have_leaves_room_for_another() {
        let places = Arc::new(Places::new(5, 3));
        let of = |name: &str, count| vec![Some(Owner::new(name).unwrap()); count];
        let mut greedy = places.take(of("greedy", 3)).unwrap();
        let refused = |owners| places.take(owners).unwrap_err();
        assert_eq!(refused(of("greedy", 1)), CreateError::TooManyOfOwner { limit: 3 });
        let modest = places.take(of("modest", 1)).unwrap();
        // All or none: the first would fit.
        assert_eq!(refused(vec![None, None]), CreateError::TooManyMatches { limit: 5 });
        let admin = places.take(vec![None]).unwrap();
        greedy.pop();
        let again = places.take(of("greedy", 1)).unwrap();
        // What runs already at a start is kept.
        let kept = places.keep(Some(Owner::new("greedy").unwrap()));
        assert_eq!(refused(vec![None]), CreateError::TooManyMatches { limit: 5 });
        drop((greedy, modest, admin, again, kept));
        let taken = places.taken();
        assert_eq!((taken.all(), taken.of(&Owner::new("greedy").unwrap())), (0, 0));
    }
}
