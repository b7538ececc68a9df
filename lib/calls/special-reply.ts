/**
 * What a handler returns in place of a value that is sent as JSON. All such classes extend this one, so that a reply with a plain
 * value costs one comparison.
 */
// oxlint-disable-next-line typescript/no-extraneous-class -- it has no members, because what extends it has none in common
export abstract class SpecialReply {}
