//! The elements of QTI 3.0.

const NO: &str = "";
const CONTENT: &str = "qti-stylesheet* qti-content-body? qti-catalog-info?";

/// The rows; how to read them stands in the parent module.
pub(super) const ELEMENTS: &[(&str, &str, &str)] = &[
    // Documents.
    (
        "qti-assessment-item",
        "qti-context-declaration* qti-response-declaration* qti-outcome-declaration* \
         qti-template-declaration* qti-template-processing? qti-assessment-stimulus-ref* \
         qti-companion-materials-info? qti-stylesheet* qti-item-body? qti-catalog-info? \
         qti-response-processing? qti-modal-feedback*",
        "identifier!:identifier title!:text label:text $tool adaptive:boolean \
         time-dependent!:boolean",
    ),
    (
        "qti-assessment-stimulus",
        "qti-stylesheet* qti-stimulus-body qti-catalog-info?",
        "identifier!:identifier title!:text label:text $tool",
    ),
    (
        "qti-assessment-test",
        "qti-context-declaration* qti-outcome-declaration* qti-time-limits? qti-stylesheet* \
         qti-rubric-block* qti-test-part+ qti-outcome-processing? qti-test-feedback*",
        "identifier!:identifier title!:text class:text tool-name:text tool-version:text",
    ),
    (
        "qti-test-part",
        "qti-pre-condition* qti-branch-rule* qti-item-session-control? qti-time-limits? \
         qti-rubric-block* qti-assessment-section|qti-assessment-section-ref+ qti-test-feedback*",
        "identifier!:identifier title:text class:text navigation-mode!:linear|nonlinear \
         submission-mode!:individual|simultaneous",
    ),
    (
        "qti-assessment-section",
        "qti-pre-condition* qti-branch-rule* qti-item-session-control? qti-time-limits? \
         qti-adaptive-selection? qti-selection? qti-ordering? qti-rubric-block* \
         xi:include|qti-assessment-item-ref|qti-assessment-section|qti-assessment-section-ref*",
        "identifier!:identifier required:boolean fixed:boolean title!:text class:text \
         visible!:boolean keep-together:boolean",
    ),
    (
        "qti-assessment-item-ref",
        "qti-pre-condition* qti-branch-rule* qti-item-session-control? qti-time-limits? \
         qti-variable-mapping* qti-weight* qti-template-default*",
        "identifier!:identifier required:boolean fixed:boolean class:text href!:uri \
         category:identifiers",
    ),
    ("qti-assessment-section-ref", NO, "identifier!:identifier class:text href!:uri"),
    ("qti-assessment-stimulus-ref", NO, "identifier!:identifier href!:uri title:text"),
    // Tests.
    ("qti-pre-condition", "%expression", NO),
    ("qti-branch-rule", "%expression", "target!:identifier"),
    (
        "qti-item-session-control",
        NO,
        "max-attempts:integer show-feedback:boolean allow-review:boolean show-solution:boolean \
         allow-comment:boolean allow-skipping:boolean validate-responses:boolean",
    ),
    ("qti-time-limits", NO, "min-time:positive max-time:positive allow-late-submission:boolean"),
    ("qti-variable-mapping", NO, "source-identifier!:identifier target-identifier!:identifier"),
    ("qti-weight", NO, "identifier!:identifier value!:number"),
    ("qti-template-default", "%expression", "template-identifier!:identifier"),
    (
        "qti-adaptive-selection",
        "qti-adaptive-engine-ref qti-adaptive-settings-ref? qti-usagedata-ref? qti-metadata-ref?",
        NO,
    ),
    ("qti-adaptive-engine-ref", NO, "identifier!:identifier href!:uri"),
    ("qti-adaptive-settings-ref", NO, "identifier!:identifier href!:uri"),
    ("qti-usagedata-ref", NO, "identifier!:identifier href!:uri"),
    ("qti-metadata-ref", NO, "identifier!:identifier href!:uri"),
    ("qti-selection", "any", "select!:integer with-replacement:boolean $any"),
    ("qti-ordering", "any", "shuffle:boolean $any"),
    (
        "qti-test-feedback",
        CONTENT,
        "access!:atEnd|during show-hide!:show|hide $feedback title:text",
    ),
    ("qti-test-feedback/qti-content-body", "~ %rich*", NO),
    // Declarations.
    ("qti-context-declaration", "qti-default-value?", "identifier!:identifier $declared"),
    (
        "qti-response-declaration",
        "qti-default-value? qti-correct-response? qti-mapping? qti-area-mapping?",
        "identifier!:identifier $declared",
    ),
    (
        "qti-outcome-declaration",
        "qti-default-value? qti-match-table|qti-interpolation-table?",
        "identifier!:identifier $declared view:views interpretation:text long-interpretation:uri \
         normal-maximum:positive normal-minimum:number mastery-value:number \
         external-scored:externalMachine|human variable-identifier-ref:identifier",
    ),
    (
        "qti-template-declaration",
        "qti-default-value?",
        "identifier!:identifier $declared param-variable:boolean math-variable:boolean",
    ),
    ("qti-default-value", "qti-value+", "interpretation:text"),
    ("qti-correct-response", "qti-value+", "interpretation:text"),
    ("qti-value", "=text", "field-identifier:identifier base-type:base-type"),
    ("qti-mapping", "qti-map-entry+", "lower-bound:number upper-bound:number default-value:number"),
    ("qti-map-entry", NO, "map-key!:text mapped-value!:number case-sensitive:boolean"),
    (
        "qti-area-mapping",
        "qti-area-map-entry+",
        "lower-bound:number upper-bound:number default-value:number",
    ),
    (
        "qti-area-map-entry",
        NO,
        "shape!:circle|default|ellipse|poly|rect coords!:coords mapped-value!:number",
    ),
    ("qti-match-table", "qti-match-table-entry+", "default-value:text"),
    ("qti-match-table-entry", NO, "source-value!:integer target-value!:text"),
    ("qti-interpolation-table", "qti-interpolation-table-entry+", "default-value:text"),
    (
        "qti-interpolation-table-entry",
        NO,
        "source-value!:number include-boundary:boolean target-value!:text",
    ),
    // Around the body.
    (
        "qti-companion-materials-info",
        "qti-calculator* qti-rule* qti-protractor* qti-digital-material* qti-physical-material* any",
        NO,
    ),
    ("qti-calculator", "qti-calculator-type qti-description qti-calculator-info?", NO),
    ("qti-calculator-type", "=basic|standard|scientific|graphing", NO),
    ("qti-description", "=text", NO),
    ("qti-calculator-info", "qti-file-href qti-resource-icon?", "$material"),
    ("qti-rule", "qti-description qti-rule-system-si|qti-rule-system-us", NO),
    ("qti-rule-system-si", "qti-minimum-length qti-minor-increment? qti-major-increment", NO),
    ("qti-rule-system-us", "qti-minimum-length qti-minor-increment? qti-major-increment", NO),
    ("qti-protractor", "qti-description qti-increment-si|qti-increment-us", NO),
    ("qti-increment-si", "qti-minor-increment? qti-major-increment", NO),
    ("qti-increment-us", "qti-minor-increment? qti-major-increment", NO),
    ("qti-minimum-length", "=integer", NO),
    (
        "qti-minor-increment",
        "=number",
        "unit!:Radian|Degree|Minute|Second|Millimeter|Centimeter|Meter|Kilometer|Inch|Foot|Yard|Mile",
    ),
    (
        "qti-major-increment",
        "=number",
        "unit!:Radian|Degree|Minute|Second|Millimeter|Centimeter|Meter|Kilometer|Inch|Foot|Yard|Mile",
    ),
    ("qti-digital-material", "qti-file-href qti-resource-icon?", "$material"),
    ("qti-physical-material", "=text", NO),
    ("qti-resource-icon", "=uri", NO),
    ("qti-file-href", "=uri", NO),
    ("qti-card/qti-file-href", "=uri", "mime-type!:mime"),
    ("qti-card-entry/qti-file-href", "=uri", "mime-type!:mime"),
    ("qti-stylesheet", NO, "href!:uri type!:mime media:text title:text"),
    ("qti-catalog-info", "qti-catalog+", NO),
    ("qti-catalog", "qti-card+", "id!:id"),
    (
        "qti-card",
        "qti-html-content? qti-file-href* qti-card-entry*",
        "support!:additional-directions|audio-description|braille|glossary-on-screen|\
         high-contrast|keyboard-directions|keyword-translation|linguistic-guidance|\
         long-description|sign-language|simplified-language-portions|simplified-graphics|spoken|\
         tactile|transcript",
    ),
    ("qti-card-entry", "qti-html-content? qti-file-href*", "default:boolean"),
    ("qti-html-content", "~ %flow|math*", NO),
    ("qti-modal-feedback", CONTENT, "show-hide!:show|hide $feedback title:text"),
    (
        "qti-modal-feedback/qti-content-body",
        "~ %rich|qti-printed-variable|qti-template-block|qti-template-inline|qti-hottext*",
        NO,
    ),
    (
        "qti-rubric-block",
        "qti-stylesheet* qti-content-body qti-catalog-info? qti-printed-variable?",
        "$common use:instructions|scoring|navigation view!:views",
    ),
    (
        "qti-item-body/qti-rubric-block",
        "qti-stylesheet* qti-content-body qti-catalog-info?",
        "$common use!:instructions|scoring|navigation view!:views",
    ),
    (
        "qti-rubric-block/qti-content-body",
        "~ %rich|qti-printed-variable|qti-template-block|qti-template-inline*",
        NO,
    ),
    ("qti-feedback-block", CONTENT, "$common $feedback show-hide:show|hide"),
    (
        "qti-feedback-block/qti-content-body",
        "~ %choice|%interactions|qti-position-object-stage*",
        NO,
    ),
    ("qti-feedback-inline", "~ %varied*", "$common $feedback show-hide:show|hide"),
    (
        "qti-template-block",
        CONTENT,
        "$common template-identifier!:identifier identifier!:identifier show-hide:show|hide",
    ),
    ("qti-content-body", "~ %choice*", NO),
    (
        "qti-template-inline",
        "~ %varied|qti-gap|qti-hottext*",
        "$common template-identifier!:identifier identifier!:identifier show-hide:show|hide",
    ),
    (
        "qti-printed-variable",
        NO,
        "id:id class:text label:text identifier!:identifier format:text base:integer-or-variable \
         index:integer-or-variable power-form:boolean field:text delimiter:text \
         mapping-indicator:text",
    ),
    // The body.
    (
        "qti-item-body",
        "%container|%interactions|qti-rubric-block|qti-position-object-stage+",
        "$common",
    ),
    ("qti-stimulus-body", "%block|math+", "$common"),
    ("qti-prompt", "~ %rich*", "$common"),
    ("qti-label", "~ %varied*", "$common"),
    // Interactions and their choices.
    (
        "qti-associate-interaction",
        "qti-prompt? qti-simple-associable-choice+",
        "$interaction shuffle:boolean $associations",
    ),
    (
        "qti-choice-interaction",
        "qti-prompt? qti-simple-choice+",
        "$interaction shuffle:boolean $choices orientation:horizontal|vertical",
    ),
    ("qti-custom-interaction", "any", "$interaction $any"),
    ("qti-drawing-interaction", "qti-prompt? %stage", "$interaction"),
    ("qti-end-attempt-interaction", NO, "$interaction title!:text count-attempt:boolean"),
    (
        "qti-extended-text-interaction",
        "qti-prompt?",
        "$interaction base:integer string-identifier:identifier expected-length:count \
         pattern-mask:text placeholder-text:text max-strings:count min-strings:count \
         expected-lines:count format:plain|preformatted|xhtml",
    ),
    (
        "qti-gap-match-interaction",
        "qti-prompt? qti-gap-text|qti-gap-img+ %container+",
        "$interaction shuffle:boolean $associations",
    ),
    (
        "qti-graphic-associate-interaction",
        "qti-prompt? %stage qti-associable-hotspot+",
        "$interaction $associations",
    ),
    (
        "qti-graphic-gap-match-interaction",
        "qti-prompt? %stage qti-gap-text|qti-gap-img+ qti-associable-hotspot+",
        "$interaction $associations",
    ),
    (
        "qti-graphic-order-interaction",
        "qti-prompt? %stage qti-hotspot-choice+",
        "$interaction $choices",
    ),
    ("qti-hotspot-interaction", "qti-prompt? %stage qti-hotspot-choice+", "$interaction $choices"),
    ("qti-hottext-interaction", "qti-prompt? %container+", "$interaction $choices"),
    (
        "qti-inline-choice-interaction",
        "qti-label? qti-inline-choice+",
        "$interaction shuffle:boolean required:boolean min-choices:count",
    ),
    (
        "qti-match-interaction",
        "qti-prompt? qti-simple-match-set{2}",
        "$interaction shuffle:boolean $associations",
    ),
    (
        "qti-media-interaction",
        "qti-prompt? object|audio|video",
        "$interaction autostart!:boolean min-plays:count max-plays:count loop:boolean \
         coords:coords",
    ),
    (
        "qti-order-interaction",
        "qti-prompt? qti-simple-choice+",
        "$interaction shuffle:boolean $choices orientation:horizontal|vertical",
    ),
    (
        "qti-portable-custom-interaction",
        "qti-prompt? qti-interaction-modules? qti-interaction-markup qti-template-variable* \
         qti-context-variable*",
        "$interaction custom-interaction-type-identifier!:uri module:identifier",
    ),
    ("qti-position-object-stage", "%stage qti-position-object-interaction+", "id:id"),
    ("qti-position-object-interaction", "%stage", "$interaction center-point:text $choices"),
    ("qti-select-point-interaction", "qti-prompt? %stage", "$interaction $choices"),
    (
        "qti-slider-interaction",
        "qti-prompt?",
        "$interaction lower-bound!:positive upper-bound!:positive step:positive \
         step-label:boolean orientation:horizontal|vertical reverse:boolean",
    ),
    (
        "qti-text-entry-interaction",
        NO,
        "$interaction base:integer string-identifier:identifier expected-length:count \
         pattern-mask:text placeholder-text:text format:text",
    ),
    ("qti-upload-interaction", "qti-prompt?", "$interaction type:mimes"),
    ("qti-simple-choice", "~ %choice*", "$choice"),
    ("qti-inline-choice", "~ %varied*", "$choice"),
    ("qti-simple-match-set", "qti-simple-associable-choice*", "id:id"),
    ("qti-simple-associable-choice", "~ %choice*", "$common fixed:boolean $matched"),
    ("qti-gap-text", "~ %varied*", "$common $matched"),
    ("qti-gap-img", "%stage", "$common $matched object-label:text top:text left:text"),
    (
        "qti-gap",
        NO,
        "$common identifier!:identifier $visible match-group:identifiers required:boolean",
    ),
    ("qti-hottext", "~ %varied*", "$common identifier!:identifier $visible"),
    (
        "qti-hotspot-choice",
        NO,
        "$common identifier!:identifier $visible shape!:circle|default|ellipse|poly|rect \
         coords!:coords hotspot-label:text",
    ),
    (
        "qti-associable-hotspot",
        NO,
        "$common $matched shape!:circle|default|ellipse|poly|rect coords!:coords \
         hotspot-label:text",
    ),
    (
        "qti-interaction-modules",
        "qti-interaction-module+",
        "primary-configuration:uri secondary-configuration:uri",
    ),
    ("qti-interaction-module", NO, "id!:identifier primary-path:uri fallback-path:uri"),
    ("qti-interaction-markup", "%choice* template*", NO),
    ("qti-template-variable", NO, "template-identifier!:identifier"),
    ("qti-context-variable", NO, "identifier!:identifier"),
];
