import type { Binding } from "../../model/binding.ts";

/** What a person types into an app, or puts into a file, so that it reports to us. */
export interface Setup {
  /** The app as its users call it. */
  readonly app: string;
  /** Where in the app the fields are. */
  readonly place: string;
  readonly fields: readonly SetupField[];
  /** What goes into a file as it is. */
  readonly paste: string | null;
  /** Does all of it, mostly as a QR code. */
  readonly link: SetupLink | null;
  /** Whether it reports about one device, so that its key is best bound. */
  readonly isOneDevice: boolean;
  /** What else its users have to know, in sentences. */
  readonly notes: readonly string[];
}

export interface SetupField {
  /** As the app calls it. */
  readonly name: string;
  readonly value: string;
}

export interface SetupLink {
  readonly url: string;
  /** Whether the phone opens the app for it. Else it has to be scanned in the app, since a browser would take it. */
  readonly opensApp: boolean;
}

/** Whose app it is that is set up, and for which server. */
export interface SetupRequest extends Binding {
  /** Without a slash at its end. */
  readonly serverUrl: string;
  /** The key's text, which is bound as said here. */
  readonly key: string;
}
