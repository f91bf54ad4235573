import { stem } from '@causeway/embed'

/** Words that developers use for one thing. A question is also asked in the other words of its groups. */

/** Each line is one group; a word may be in several. */
const groups: readonly (readonly string[])[] = `
abort cancel interrupt stop
accept allow permit
access permission privilege
add append attach insert register
address url uri endpoint path route
agent dispatcher
alert warning notice
argument parameter option
array list collection
asynchronous async promise await
authenticate authentication login auth identity credential
authorize authorization permission
backend upstream origin
bandwidth throughput
benchmark measure performance speed
big large huge long
bind listen
body payload content upload
boot start startup launch initialize
browser frontend
buffer memory
bug defect fault
bundle package
cache store keep reuse
callback handler function listener
certificate cert tls ssl https encryption secure
change modify update mutate edit
check validate verify validation
choose select pick
clean sanitize strip
client consumer caller
close shutdown terminate end destroy
cluster replica node
command cli
compress gzip deflate brotli
concurrent parallel simultaneous
configure configuration setting option setup
connect connection socket
console log logging logger
constraint condition restriction
convert transform translate
cookie session
copy clone duplicate
crash die exit
create make build construct
customize custom override
database db storage
deadline timeout expire
debug diagnose troubleshoot trace
declare define
decorate extend augment
default fallback
delay wait postpone
delete remove drop
dependency package module library
deploy deployment hosting cloud
deprecated obsolete legacy
detect notice recognize
directory folder
disable off
disconnect close
distribute balance spread
document documentation
download fetch get retrieve
duplex bidirectional
enable on
encapsulate encapsulation isolate scope context
environment env variable
error exception failure
event emit notification
example sample
executable binary
fail failure break
fake mock stub simulate pretend
fast quick speed
file document
filter exclude
find search lookup
follow redirect redirection
format layout
gateway proxy
generate produce
global everywhere
graceful gracefully
group batch
hang stuck freeze block
hash digest checksum
header metadata
hide redact mask conceal
hook interceptor middleware
host hostname domain
id identifier identity unique
ignore skip
image picture
import require load
inherit share
inject injection
inspect examine see
install setup
instrument monitor telemetry metrics diagnostics observe
integration integrate
intercept interceptor wrap
internal private
interval period
introspect inspect
json serialize serialization stringify
key property field
language locale
latency delay slow
leak retain
lifecycle phase stage order sequence
limit maximum max cap restrict
link url
load traffic
lock mutex
loop iterate
map table
match pattern
message request
method verb
migrate migration upgrade
missing absent unknown notfound
module plugin extension addon
multiple several many
name title
network connection
null empty nothing
number count amount
object record
operating os
overload pressure overwhelm
page response
parse parser decode
password secret credential token
path route
pause suspend
permanent persistent
pipeline pipelining
plugin extension
position location
prefix namespace
prevent avoid protect
print output
priority weight
private internal
process handle
profile measure
publish release
pull fetch
push send
query querystring search
queue backlog
rate throttle
raw plain
read load
receive accept get
reconnect retry
record capture snapshot
refuse reject deny forbid
release version
reload restart
render display show
repeat retry again
replace substitute
replay playback
reply response answer
request call
require need mandatory
resolve lookup
restart reload
result outcome
retry repeat again
return answer
reuse share
reverse backwards
role permission
root base
round-robin balance
rule policy
run execute
safe secure security
schema shape structure
secret password credential
send transmit post
sequence order
serverless lambda cloud
server service
share common reuse
sign signature
size length
slow latency
snapshot record
socket connection
sort order
spec specification standard
start begin
state status
statistics stats count
store save persist
stream pipe chunk
support compatible
suspend pause
synchronous blocking
table map
task job
test testing unit
thread worker
time duration
token secret
tool utility
trace follow
transfer send
transform convert
tunnel proxy
type typescript typing
undo revert
unique id
unix domain ipc
update upgrade
upload send multipart form
user visitor person customer
valid validation
version release
warm ready
websocket socket
whitelist allowlist
wrap decorate
write save
`
  .trim()
  .split('\n')
  .map((line) => line.split(' '))

const byStem = new Map<string, ReadonlySet<string>>()
for (const group of groups)
  for (const word of group) byStem.set(stem(word), new Set([...(byStem.get(stem(word)) ?? []), ...group]))

/** Other words for those of a question, without repeats and without the words themselves. */
export function otherWords(words: readonly string[]): string[] {
  const own = new Set(words)
  const others = words.flatMap((word) => [...(byStem.get(stem(word)) ?? [])])
  return [...new Set(others)].filter((word) => !own.has(word))
}
