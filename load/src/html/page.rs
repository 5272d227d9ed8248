//! The parts of a page.

use super::plot::{COLOURS, Plot};
use crate::sheet::Sheet;

/// A page that is being written. All text goes through [`escape`].
pub(super) struct Page(String);

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"color-scheme\" content=\"light dark\">\n";

/// The colours of lines on a dark page, in the order of [`COLOURS`].
const ON_DARK: [&str; COLOURS.len()] = ["#6fb1ff", "#ff7b72", "#6fce6f", "#c9a0ff", "#e0a840"];

impl Page {
    pub(super) fn new(title: &str) -> Self {
        let mut page = Self(HEAD.to_owned());
        page.element("title", title);
        page.raw("<style>\n").raw(include_str!("page.css")).raw("@media (prefers-color-scheme: dark) {\n");
        for (colour, on_dark) in COLOURS.iter().zip(ON_DARK) {
            let name = hex(*colour);
            page.raw(&format!(
                "svg [stroke=\"{name}\"] {{ stroke: {on_dark}; }}\nsvg [fill=\"{name}\"] {{ fill: {on_dark}; }}\n"
            ));
        }
        page.raw("}\n</style>\n</head>\n<body>\n<main>\n").element("h1", title);
        page
    }

    pub(super) fn finish(mut self) -> String {
        self.raw("</main>\n</body>\n</html>\n");
        self.0
    }

    /// Text in an element of this name.
    pub(super) fn element(&mut self, name: &str, text: &str) -> &mut Self {
        self.raw(&format!("<{name}>{}</{name}>\n", escape(text)))
    }

    /// Text in a paragraph of this class.
    pub(super) fn paragraph(&mut self, class: &str, text: &str) -> &mut Self {
        self.raw(&format!("<p class=\"{}\">{}</p>\n", escape(class), escape(text)))
    }

    /// Texts, one below the other.
    pub(super) fn list(&mut self, texts: impl IntoIterator<Item = String>) -> &mut Self {
        self.raw("<ul>\n");
        for text in texts {
            self.element("li", &text);
        }
        self.raw("</ul>\n")
    }

    /// A long text, which is shown when it is asked for.
    pub(super) fn details(&mut self, summary: &str, text: &str) -> &mut Self {
        self.raw("<details>\n").element("summary", summary).element("pre", text).raw("</details>\n")
    }

    /// Rows of numbers.
    pub(super) fn numbers(&mut self, sheet: &Sheet) -> &mut Self {
        self.sheet("numbers", sheet)
    }

    /// Rows of texts.
    pub(super) fn texts(&mut self, sheet: &Sheet) -> &mut Self {
        self.sheet("texts", sheet)
    }

    fn sheet(&mut self, class: &str, sheet: &Sheet) -> &mut Self {
        self.raw(&format!("<div class=\"wide\"><table class=\"{}\">\n<tr>", escape(class)));
        for heading in &sheet.headings {
            self.raw(&format!("<th>{}</th>", escape(heading)));
        }
        self.raw("</tr>\n");
        for row in &sheet.rows {
            self.raw("<tr>");
            for cell in row {
                self.raw(&format!("<td>{}</td>", escape(cell)));
            }
            self.raw("</tr>\n");
        }
        self.raw("</table></div>\n")
    }

    /// A drawing with its title and what its lines are.
    pub(super) fn figure(&mut self, plot: &Plot, svg: &str) -> &mut Self {
        self.raw("<figure>\n<figcaption>").raw(&escape(&plot.title));
        for (line, colour) in plot.lines.iter().zip(COLOURS.iter().cycle()) {
            let swatch = "<svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\">";
            self.raw(&format!(
                " <span>{swatch}<rect width=\"10\" height=\"10\" fill=\"{}\"/></svg> {}</span>",
                hex(*colour),
                escape(&line.name)
            ));
        }
        self.raw("</figcaption>\n").raw(svg).raw("</figure>\n")
    }

    fn raw(&mut self, html: &str) -> &mut Self {
        self.0.push_str(html);
        self
    }
}

/// As the drawings spell it.
fn hex(colour: plotters::style::RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}

/// A text that stands in an element or an attribute and is nothing else.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
