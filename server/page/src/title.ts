import { useEffect } from 'preact/hooks'

/** What the browser shows as the title of the view. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · spanscore`
  }, [name])
}
