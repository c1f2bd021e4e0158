/** Names of things, kept apart by the compiler: a `DeviceId` is not an `AppId`, though both are text. */
export type AppId = string & { readonly brand: "AppId" };
export type DeviceId = string & { readonly brand: "DeviceId" };
export type UserId = string & { readonly brand: "UserId" };

/** The user of reports that name none. It can't be asked for, since it is nobody in particular. */
export const ANONYMOUS = "ANONYMOUS" as UserId;
