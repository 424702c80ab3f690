//! Embeds the files that `web/console` builds from its sources and npm packages. A build without npm has no such
//! files. Its pages have no styles, but work.
//!
//! Pages ask no other host for anything, so they bring their font, Inter for Latin letters.

use std::borrow::Cow;
use std::sync::LazyLock;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../web/console/dist"]
struct Assets;

/// The path below which the console's files are served. Their names contain a hash of their content, so clients may
/// cache them for ever.
pub const BASE: &str = "/console/assets";

/// Finds an embedded file and its media type.
pub fn file(name: &str) -> Option<(Cow<'static, [u8]>, String)> {
    let found = Assets::get(name)?;
    Some((found.data, found.metadata.mimetype().to_owned()))
}

/// Whether the name of a file contains a hash of its content, such as `console-4QZ7KX2M.css`.
pub fn is_hashed(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let hash = stem.rsplit_once('-').map(|(_, hash)| hash).unwrap_or_default();
    hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// The address of a file by its name without the hash, such as `console.css`. `None` in a build without assets.
pub fn address(name: &str) -> Option<String> {
    let (stem, ending) = name.split_once('.')?;
    let own = |file: &str| {
        is_hashed(file)
            && file.strip_prefix(stem).is_some_and(|rest| rest.starts_with('-'))
            && file.ends_with(&format!(".{ending}"))
            && file.len() == stem.len() + 1 + 8 + 1 + ending.len()
    };
    Assets::iter().find(|file| own(file)).map(|file| format!("{BASE}/{file}"))
}

/// The style of every page.
pub(crate) static STYLE: LazyLock<Option<String>> = LazyLock::new(|| address("console.css"));
/// The font of every page, for Latin letters.
pub static FONT: LazyLock<Option<String>> =
    LazyLock::new(|| address("inter-latin-wght-normal.woff2"));
/// The script of every page.
pub(crate) static SCRIPT: LazyLock<Option<String>> = LazyLock::new(|| address("console.js"));
