import { useRef } from 'preact/hooks'

import { ask } from '../api.ts'

interface LabelFilesProps {
  readonly scorer: string
  /** Called with the work in progress, which may fail. */
  readonly onSave: (work: Promise<void>) => void
  readonly onImport: (lines: string) => void
}

/** Exports the files that `spanscore calibrate` needs, and imports labels from elsewhere. */
export function LabelFiles({ scorer, onSave, onImport }: LabelFilesProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <section class="label-files">
      <h2>Calibrate</h2>
      <p class="muted">
        Export labels and runs, and run{' '}
        <code>
          npx @spanscore/cli calibrate runs-{scorer}.jsonl --labels labels-{scorer}.jsonl
        </code>
      </p>
      <p class="buttons">
        <button type="button" onClick={() => onSave(save('labels', scorer))}>
          Export labels
        </button>
        <button
          type="button"
          title="The runs with their scores, in OTLP/JSON: the other file that spanscore calibrate needs"
          onClick={() => onSave(save('runs', scorer))}
        >
          Export runs
        </button>
        <button type="button" onClick={() => input.current?.click()}>
          Import labels
        </button>
        <input
          ref={input}
          type="file"
          class="hidden"
          tabIndex={-1}
          aria-label="File of labels"
          accept=".jsonl,.ndjson,.json"
          onChange={({ currentTarget }) => {
            void currentTarget.files?.[0]?.text().then(onImport)
            currentTarget.value = ''
          }}
        />
      </p>
    </section>
  )
}

async function save(what: 'labels' | 'runs', scorer: string): Promise<void> {
  const path = what === 'labels' ? '/api/labels/export' : '/api/labels/runs'
  const response = await ask(`${path}?scorer=${encodeURIComponent(scorer)}`)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = `${what}-${scorer}.jsonl`
  link.click()
  URL.revokeObjectURL(link.href)
}
