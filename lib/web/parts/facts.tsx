import type { ComponentChildren, JSX } from 'preact'

/** Names and values of one thing. Those without a value are left out. */
export const Facts = ({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[]
}): JSX.Element => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== undefined && value !== '' && value !== null && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
