# Oracle of src/stats/clash.ts and src/core/poisson.ts: survdiff with an offset (O and E of a one-sample test), pyears
# (person-time by interval), pnbinom, pnorm, p.adjust and ppois of R, on survival::lung.
# Run from the repository root: Rscript test/oracles/clash.R   (writes test/oracles/clash.json)
suppressPackageStartupMessages(library(survival))
n<-function(x) paste0("[",paste(sprintf("%.17g",x),collapse=","),"]")
d<-data.frame(time=lung$time,event=as.integer(lung$status==2),sex=lung$sex,age=lung$age)
groups<-list(all=seq_len(nrow(d)),men=which(d$sex==1),women=which(d$sex==2),oldest=which(d$age>=76),"women of 70"=which(d$sex==2&d$age>=70))
# Targets at times of different spacing; survival printed to three digits. One set is near lung, one far, one uncertain,
# with standard errors that fall from one time to the next.
cuts<-c(90,180,365,540,730)
near<-function(rate) round(exp(-rate*(cuts/365)^1.2),3)
sets<-list(
  near=lapply(c(.9,1.05,.62,1.3,.7),function(r) list(S=near(r),se=round(.02*seq_along(cuts)^.5,4))),
  far=lapply(c(.6,.7,1.1,.5,2.2),function(r) list(S=near(r),se=rep(.004,5))),
  uncertain=lapply(c(.7,.8,.8,1,1.6),function(r) list(S=near(r),se=c(.03,.02,.05,.04,.01))))
test<-function(rows,target){
  last<-max(cuts); t<-pmin(d$time[rows],last); e<-ifelse(d$time[rows]<=last,d$event[rows],0L)
  S<-exp(approx(c(0,cuts),c(0,log(target$S)),t)$y)
  x<-survdiff(Surv(t,e)~offset(S))
  age<-tcut(rep(0,length(t)),c(0,cuts))
  py<-pyears(Surv(t,e)~age,scale=1)
  a<-as.vector(py$pyears)/diff(c(0,cuts))
  G<-cummax((target$se/target$S)^2)
  V<-sum(a^2*diff(c(0,G))); E<-x$exp; r<-E^2/V
  if(E<20){z<-NA; p<-min(1,2*min(pnbinom(x$obs,size=r,mu=E),pnbinom(x$obs-1,size=r,mu=E,lower.tail=FALSE)))}
  else{z<-(x$obs-E)/sqrt(E+V); p<-2*pnorm(-abs(z))}
  list(O=x$obs,E=x$exp,z=z,p=p)}
out<-mapply(function(name,targets){
  r<-Map(test,groups,targets); adj<-p.adjust(sapply(r,`[[`,"p"),"holm")
  rows<-mapply(function(group,one,target,q) sprintf('{"group":"%s","survival":%s,"se":%s,"observed":%d,"expected":%.17g,"z":%s,"p":%.17g,"adjusted":%.17g}',
    group,n(target$S),n(target$se),as.integer(one$O),one$E,ifelse(is.na(one$z),"null",sprintf("%.17g",one$z)),one$p,q),names(groups),r,targets,adj)
  sprintf('{"name":"%s","groups":[\n%s]}',name,paste(rows,collapse=",\n"))},names(sets),sets)
g<-expand.grid(k=c(0,1,2,5,19,20,40,200),mean=c(.001,.5,1,4.7,19.999,20,80))
tails<-sprintf("[%d,%.17g,%.17g,%.17g]",as.integer(g$k),g$mean,ppois(g$k,g$mean,log.p=TRUE),ppois(g$k-1,g$mean,lower.tail=FALSE,log.p=TRUE))
h<-expand.grid(k=c(0,1,2,5,19,40,200),size=c(.05,.7,1,4.7,60,1e4,1e6,1e8),mean=c(.001,.5,4.7,19.999))
mixed<-sprintf("[%d,%.17g,%.17g,%.17g,%.17g]",as.integer(h$k),h$size,h$mean,pnbinom(h$k,size=h$size,mu=h$mean,log.p=TRUE),
  pnbinom(h$k-1,size=h$size,mu=h$mean,lower.tail=FALSE,log.p=TRUE))
members<-mapply(function(name,rows) sprintf('{"name":"%s","rows":%s}',name,n(rows-1)),names(groups),groups)
writeLines(paste0('{"source":"R ',getRversion(),', survival ',packageVersion("survival"),'",\n"time":',n(d$time),',\n"event":',n(d$event),',\n"cuts":',n(cuts),
  ',\n"members":[',paste(members,collapse=",\n"),'],\n"sets":[',paste(out,collapse=",\n"),'],\n"tails":[',paste(tails,collapse=","),'],\n"mixed":[',paste(mixed,collapse=","),"]}"),"test/oracles/clash.json")
