//! Groups of names that many rows share.

/// The names of a group of elements.
pub(super) fn of_names(group: &str) -> &'static str {
    match group {
        "phrase" => {
            "a abbr acronym b bdi bdo big br cite code dfn em i img kbd label object picture q ruby \
             samp small span strong sub sup tt var ssml"
        }
        "ruby" => {
            "a abbr audio b bdi bdo br cite code dfn em i img kbd label object picture q ruby samp \
             small span strong sub sup var video"
        }
        "block" => {
            "address article aside audio blockquote div dl figure footer h1 h2 h3 h4 h5 h6 header \
             hr nav ol p pre section table ul video"
        }
        "flow" => "%phrase %block details",
        "rich" => "%flow math svg xi:include",
        // What is shown in one line and may change with variables.
        "varied" => {
            "%phrase math svg xi:include qti-feedback-inline qti-printed-variable qti-template-inline"
        }
        "inline" => {
            "%varied qti-gap qti-hottext qti-custom-interaction qti-end-attempt-interaction \
             qti-inline-choice-interaction qti-text-entry-interaction"
        }
        "choice" => {
            "%rich qti-printed-variable qti-feedback-block qti-feedback-inline qti-template-block \
             qti-template-inline"
        }
        "interactions" => {
            "qti-associate-interaction qti-choice-interaction qti-custom-interaction \
             qti-drawing-interaction qti-extended-text-interaction qti-gap-match-interaction \
             qti-graphic-associate-interaction qti-graphic-gap-match-interaction \
             qti-graphic-order-interaction qti-hotspot-interaction qti-hottext-interaction \
             qti-match-interaction qti-media-interaction qti-order-interaction \
             qti-portable-custom-interaction qti-select-point-interaction qti-slider-interaction \
             qti-upload-interaction"
        }
        "full" => {
            "%choice %interactions qti-hottext qti-end-attempt-interaction \
             qti-inline-choice-interaction qti-text-entry-interaction"
        }
        "container" => "%block math svg xi:include qti-feedback-block qti-template-block",
        "stage" => "object img picture",
        "responses" => {
            "xi:include qti-response-condition qti-response-processing-fragment \
             qti-set-outcome-value qti-exit-response qti-lookup-outcome-value"
        }
        "outcomes" => {
            "xi:include qti-outcome-condition qti-outcome-processing-fragment \
             qti-set-outcome-value qti-exit-test qti-lookup-outcome-value"
        }
        "templates" => {
            "qti-set-template-value qti-exit-template qti-template-condition \
             qti-set-default-value qti-set-correct-response qti-template-constraint"
        }
        // Expressions whose value may be a number.
        "numeric" => {
            "qti-base-value qti-container-size qti-correct qti-custom-operator qti-default \
             qti-delete qti-divide qti-field-value qti-gcd qti-index qti-integer-divide \
             qti-integer-modulus qti-integer-to-float qti-lcm qti-map-response \
             qti-map-response-point qti-math-constant qti-math-operator qti-max qti-min \
             qti-multiple qti-null qti-number-correct qti-number-incorrect qti-number-presented \
             qti-number-responded qti-number-selected qti-ordered qti-outcome-maximum \
             qti-outcome-minimum qti-power qti-product qti-random qti-random-float \
             qti-random-integer qti-repeat qti-round qti-round-to qti-stats-operator \
             qti-subtract qti-sum qti-test-variables qti-truncate qti-variable"
        }
        "expression" => {
            "%numeric qti-and qti-any-n qti-contains qti-duration-gte qti-duration-lt qti-equal \
             qti-equal-rounded qti-gt qti-gte qti-inside qti-is-null qti-lt qti-lte qti-match \
             qti-member qti-not qti-or qti-pattern-match qti-string-match qti-substring"
        }
        other => panic!("no group of elements {other}"),
    }
}

/// The rules of a group of attributes.
pub(super) fn of_attributes(group: &str) -> &'static str {
    match group {
        "common" => "id:id class:text lang:text label:text dir:ltr|rtl|auto role:text",
        "interaction" => "$common response-identifier!:identifier",
        "visible" => "template-identifier:identifier show-hide:show|hide",
        "choice" => "$common identifier!:identifier fixed:boolean $visible",
        "matched" => {
            "identifier!:identifier $visible match-group:identifiers match-max!:count \
             match-min:count"
        }
        "feedback" => "outcome-identifier!:identifier identifier!:identifier",
        "choices" => "min-choices:count max-choices:count",
        "associations" => "min-associations:count max-associations:count",
        "declared" => "cardinality!:cardinality base-type:base-type",
        "some-items" => {
            "section-identifier:identifier include-category:identifiers \
             exclude-category:identifiers"
        }
        "tool" => "tool-name:text tool-version:text",
        "material" => "mime-type!:mime label:text",
        "media" => {
            "$common src:uri crossorigin:anonymous|use-credentials preload:none|auto|metadata \
             autoplay:flag mediagroup:text loop:flag muted:flag controls:flag"
        }
        "cell" => {
            "$common headers:identifiers scope:col|colgroup|row|rowgroup abbr:text axis:text \
             rowspan:integer colspan:integer align:left|center|right|justify|char \
             valign:bottom|middle|top|baseline"
        }
        other => panic!("no group of attributes {other}"),
    }
}
