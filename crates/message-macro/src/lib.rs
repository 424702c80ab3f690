//! The macro `message!`, which `lyceum-core` exports beside the type `Message` that it makes.

use proc_macro::{Delimiter, Group, Literal, Punct, Spacing, TokenStream, TokenTree};

/// Makes a `Message`: `message!("there is no {kind} with the id '{row.id}'", kind = row.kind())`.
///
/// Each `{name}` in the template is the variable or field with this name, or the expression that follows the template under
/// this name. A value has `Display`; a value that is a `Message` is translated, too. As in `format!`, `{{` and `}}` are
/// braces.
#[proc_macro]
pub fn message(input: TokenStream) -> TokenStream {
    match filled(input) {
        Ok(filled) => call("::lyceum_core::filled_message!", filled),
        Err(problem) => {
            call("::core::compile_error!", TokenTree::from(Literal::string(&problem)).into())
        }
    }
}

/// The template with a value for each of its names: `"…{a}…{b.c}…", "a" = expression, "b.c" = b.c`.
fn filled(input: TokenStream) -> Result<TokenStream, String> {
    let mut tokens = input.into_iter();
    let Some(TokenTree::Literal(template)) = tokens.next() else {
        return Err("write the template as a text in quotes".to_owned());
    };
    let mut values = arguments(&tokens.collect::<Vec<_>>())?;
    let mut filled = TokenStream::from(TokenTree::from(template.clone()));
    for name in names(&template.to_string())? {
        let given = values.iter().position(|(known, _)| *known == name);
        let value = given.map_or_else(|| field(&name, &template), |at| values.remove(at).1);
        let sign = |sign| TokenTree::from(Punct::new(sign, Spacing::Alone));
        filled.extend([sign(','), Literal::string(&name).into(), sign('=')]);
        filled.extend(value);
    }
    match values.first() {
        None => Ok(filled),
        Some((name, _)) => Err(format!("the template does not contain {{{name}}}")),
    }
}

/// The names in braces, each once.
fn names(template: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    // The braces of a character such as `\u{2014}` have no name.
    for part in template.replace("\\u{", "").replace("{{", "").split('{').skip(1) {
        let name = part.split('}').next().unwrap_or_default();
        let is_name = |part: &str| {
            part.starts_with(|first: char| first.is_alphabetic())
                && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        if !name.split('.').all(is_name) {
            return Err(format!(
                "'{{{name}}}' does not name a value; write {{name}}, name = expression"
            ));
        }
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// The variable or field with this name, in the scope of the template.
fn field(name: &str, template: &Literal) -> TokenStream {
    let tokens = name.parse::<TokenStream>().unwrap_or_default();
    let in_scope = |mut token: TokenTree| {
        token.set_span(template.span());
        token
    };
    tokens.into_iter().map(in_scope).collect()
}

/// The arguments `, name = expression` behind the template.
fn arguments(tokens: &[TokenTree]) -> Result<Vec<(String, TokenStream)>, String> {
    let is_comma = |token: &TokenTree| is_sign(token, ',');
    let arguments = tokens.split(is_comma).filter(|argument| !argument.is_empty());
    let arguments = arguments.map(|argument| match argument {
        [TokenTree::Ident(name), sign, value @ ..] if is_sign(sign, '=') => {
            Ok((name.to_string(), value.iter().cloned().collect()))
        }
        _ => Err("write each value behind the template as `name = expression`".to_owned()),
    });
    arguments.collect()
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// A call of a macro, such as `::core::compile_error!`.
fn call(name: &str, arguments: TokenStream) -> TokenStream {
    let mut call: TokenStream = name.parse().unwrap_or_default();
    call.extend([TokenTree::from(Group::new(Delimiter::Parenthesis, arguments))]);
    call
}
