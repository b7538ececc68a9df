import { ServiceError } from '#lib/errors.ts'

/** A position in the event log. The events after it have greater numbers. */
export interface Cursor {
  /** Identifies the log. A store that was restored from a backup begins a new epoch. */
  readonly epoch: string
  readonly seq: number
}

/** A cursor as clients get it. */
export const formatCursor = ({ epoch, seq }: Cursor): string => `${epoch}-${seq}`

/** Reads what `formatCursor` wrote. Throws `invalid` for any other text. */
export const parseCursor = (text: string): Cursor => {
  const [, epoch = '', seq = ''] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(text) ?? []
  if (epoch === '')
    throw new ServiceError('invalid', 'since is not a cursor; give the cursor of the last event that you have.')
  return { epoch, seq: Number(seq) }
}
