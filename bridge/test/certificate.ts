/**
 * A self-signed certificate for localhost and 127.0.0.1, valid for a hundred years, and its key. For tests only. Created by
 * `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=causeway-test
 * -addext subjectAltName=DNS:localhost,IP:127.0.0.1`.
 */
export const certificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUOzjZqHOSlhjHuMi
jB/9LOFVG4dWLGqXx9tVsbLtm8ChRANCAARzmYshhc+wbrFarKyAYMs8qKkl9WW9
rzPX0n35OKVTgXLW8Ynl5NtcTpuPnPvs7ztMRfyir4I+cF4oI0WrI8V+
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBozCCAUmgAwIBAgIUT9jY2bnW/HNgs7KxkZRlfWvPS1gwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNY2F1c2V3YXktdGVzdDAgFw0yNjExMjEyMzU0MDZaGA8yMTI2
MTAyODIzNTQwNlowGDEWMBQGA1UEAwwNY2F1c2V3YXktdGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABHOZiyGFz7BusVqsrIBgyzyoqSX1Zb2vM9fSffk4pVOB
ctbxieXk21xOm4+c++zvO0xF/KKvgj5wXigjRasjxX6jbzBtMB0GA1UdDgQWBBTk
mum2uzig2EFI8fgwg34RVnxB7DAfBgNVHSMEGDAWgBTkmum2uzig2EFI8fgwg34R
VnxB7DAPBgNVHRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAA
ATAKBggqhkjOPQQDAgNIADBFAiEApnibLuG5BUqhaPPwxi3lEsTtUALvYw+/PdpV
ZO+jyCoCIDzOHRXoOo8g5m5pRTEZQaoP5PZp5MWa6zNG7O6mW2Wf
-----END CERTIFICATE-----
`,
}
