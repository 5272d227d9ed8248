//! Whether the numbers of results, from the latest one down to 1, have no gap.

/// The numbers so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    latest: u64,
    /// The last one that came.
    last: Option<u64>,
}

impl Numbers {
    /// Those up to this one at least: it was given before any came.
    pub(super) const fn up_to(latest: u64) -> Self {
        Self { latest, last: None }
    }

    /// The latest number.
    pub(super) const fn latest(&self) -> u64 {
        self.latest
    }

    /// Takes the next number, and says which it passes over, the first and the last, and whether it is not below the one
    /// before.
    pub(super) fn next(&mut self, number: u64) -> (Option<(u64, u64)>, bool) {
        let Some(before) = self.last else {
            self.last = Some(number);
            if number < self.latest {
                return (Some((number + 1, self.latest)), false);
            }
            self.latest = number;
            return (None, false);
        };
        if number >= before {
            return (None, true);
        }
        self.last = Some(number);
        ((number + 1 < before).then_some((number + 1, before - 1)), false)
    }

    /// Which numbers are missing when no more come.
    pub(super) const fn end(&self) -> Option<(u64, u64)> {
        match self.last {
            Some(last) if last > 1 => Some((1, last - 1)),
            None if self.latest > 0 => Some((1, self.latest)),
            Some(_) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    /// What is missing, and what came again.
    fn check(latest: u64, numbers: &[u64], missing: &[(u64, u64)], again: &[u64]) {
        let mut all = Numbers::up_to(latest);
        let (mut found, mut twice) = (Vec::new(), Vec::new());
        for &number in numbers {
            let (missing, again) = all.next(number);
            found.extend(missing);
            twice.extend(again.then_some(number));
        }
        found.extend(all.end());
        assert_eq!((found.as_slice(), twice.as_slice()), (missing, again), "{numbers:?}");
    }

    #[test]
    fn a_gap_is_named_wherever_it_is_and_a_number_that_comes_again_too() {
        check(0, &[], &[], &[]);
        check(0, &[1], &[], &[]);
        check(3, &[3, 2, 1], &[], &[]);
        check(8, &[9, 6, 5, 1], &[(7, 8), (2, 4)], &[]);
        check(4, &[4, 3], &[(1, 2)], &[]);
        check(3, &[3, 2, 2, 1], &[], &[2]);
        check(3, &[3, 1, 2], &[(2, 2)], &[2]);
        // The newest are gone, and all are.
        check(6, &[3, 2, 1], &[(4, 6)], &[]);
        check(4, &[3, 1], &[(4, 4), (2, 2)], &[]);
        check(2, &[], &[(1, 2)], &[]);
    }
}
