/**
 * What a handler returns in place of a value that is sent as JSON. All such classes extend this one, so that a reply with a plain
 * value costs one comparison.
 */
export abstract class SpecialReply {}
