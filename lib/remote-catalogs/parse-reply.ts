import { parseJsonReply } from '#lib/calls/received-reply.ts'
import type { OutgoingReply } from '#lib/platform/outgoing-request.ts'

/** Parses a reply of a remote catalog as JSON, see `parseJsonReply`. */
export const parseReply = ({ body }: Pick<OutgoingReply, 'body'>): unknown => parseJsonReply('the remote catalog', body)
