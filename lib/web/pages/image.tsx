import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { formatBytes } from '../parts/byte-size.ts'
import { Facts } from '../parts/facts.tsx'
import { Missing } from '../parts/missing.tsx'
import { formatTime } from '../parts/text.ts'
import { images } from '../state/images.ts'
import { goTo } from '../state/route.ts'
import { useStore } from '../state/store.ts'
import { CreateMachine } from './create-machine.tsx'
import type { PageProps } from './pages.ts'

/** One image: where it is from, and machines of it. */
export const ImagePage = ({ parts: [reference = ''] }: PageProps): JSX.Element => {
  const list = useStore(images)
  const image = list.rows.find(({ id, name }) => id === reference || name === reference)
  if (!image) return <Missing what="image" list={list} />
  const { id, name } = image
  return (
    <section class="page">
      <header>
        <h1>{name}</h1>
        <div class="actions">
          <CreateMachine images={[image]} />
          <Action
            label="Delete"
            kind="danger"
            operation="images.delete"
            explanation={`${name} is deleted. The service refuses it while a machine uses the image.`}
            toCall={() => ({ params: { id } })}
            onDone={() => (goTo('images'), `${name} was deleted.`)}
          />
        </div>
      </header>
      <Facts
        facts={[
          ['Description', image.description],
          ['Kind', image.kind],
          ['Stored', formatBytes(image.size)],
          ['Disk', formatBytes(image.virtual_size)],
          ['Firmware', image.firmware],
          ['Came as', image.format],
          ['From', image.source_url],
          ['Registered', formatTime(image.created_at)],
          ['SHA-256 of what came', <code>{image.sha256}</code>],
          ['SHA-256 of the file', <code>{image.digest}</code>],
        ]}
      />
    </section>
  )
}
