mod observations;
mod records;

use rand::RngExt;
use rand::rngs::SmallRng;

/// These bytes with a mistake or two.
fn with_mistakes(bytes: &[u8], random: &mut SmallRng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..3) {
        let place = random.random_range(0..bytes.len());
        match random.random_range(0..4) {
            0 => bytes[place] ^= 1 << random.random_range(0..8),
            1 => bytes[place] = random.random_range(0..20),
            2 => bytes.insert(place, random.random_range(0..130)),
            _ => drop(bytes.remove(place)),
        }
    }
    bytes
}
