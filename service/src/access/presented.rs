//! The token that a request presents. Whoever asks whose it is, how much was asked by it, or what became of its last stream
//! has it from here, so that no other spelling of the header makes another token of it.

use http::{HeaderMap, header::AUTHORIZATION};

/// The header is not "Bearer TOKEN", or there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotPresented;

/// The token of "authorization: Bearer TOKEN", if there is such a header: the scheme in upper or lower case, the token
/// without the spaces around it.
pub(crate) fn presented(headers: &HeaderMap) -> Result<Option<&str>, NotPresented> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().map_err(|_| NotPresented)?;
    match (text.split_once(' '), values.next()) {
        (Some((scheme, token)), None) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err(NotPresented),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_same_however_its_header_is_spelt() {
        let check = |values: &[&str], expected| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            assert_eq!(presented(&headers), expected, "{values:?}");
        };
        for spelling in ["Bearer a", "bEaReR a", "bearer    a", "BEARER a  ", "Bearer \ta"] {
            check(&[spelling], Ok(Some("a")));
        }
        check(&[], Ok(None));
        for none in ["Bearer", "Basic a", "", " Bearer a"] {
            check(&[none], Err(NotPresented));
        }
        check(&["Bearer a", "Bearer a"], Err(NotPresented));
    }
}
