import type { JSX } from 'preact'
import { makeCall, type OperationCall } from '../state/calls.ts'
import { may } from '../state/session.ts'
import { Action } from './action.tsx'
import { tellError } from './notices.tsx'

interface Props {
  /** What they are: `Roles`, `Tags`. */
  readonly title: string
  /** One of them, as the button says it. */
  readonly one: string
  readonly names: readonly string[]
  readonly suggestions?: readonly string[]
  readonly give: string
  readonly take: string
  readonly toGive: (name: string) => Omit<OperationCall, 'operation'>
  readonly toTake: (name: string) => Omit<OperationCall, 'operation'>
}

/** Names that something has, such as the roles of a user, with buttons that add one and remove one. */
export const Grants = ({ title, one, names, suggestions = [], give, take, toGive, toTake }: Props): JSX.Element => (
  <section aria-label={title}>
    <header>
      <h2>{title}</h2>
      <div class="actions">
        <Action
          label={`Add a ${one}`}
          operation={give}
          fields={[{ name: 'name', label: 'Name', isRequired: true, suggestions }]}
          toCall={({ name = '' }) => toGive(name.trim())}
        />
      </div>
    </header>
    <p>
      {names.length === 0 && <span class="hint">None.</span>}
      {names.map(name => (
        <span class="label" key={name}>
          {name}
          {may(take) && (
            <button
              type="button"
              class="plain"
              aria-label={`Remove the ${one} ${name}`}
              onClick={() => void makeCall({ operation: take, ...toTake(name) }).catch(tellError)}
            >
              ×
            </button>
          )}
        </span>
      ))}
    </p>
  </section>
)
