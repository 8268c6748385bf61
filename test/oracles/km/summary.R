# Oracle of what is read off Kaplan-Meier curves: survival at chosen times, median and restricted mean, with their errors.
# Run from the repository root: Rscript test/oracles/km/summary.R   (writes test/oracles/km/summary.json)
suppressMessages({library(survival); library(jsonlite)}); options(warn=1)
read<-function(name) read.csv(paste0("test/tables/",name,".csv"),stringsAsFactors=TRUE)
tables<-list(
 lung=list(f=Surv(time,status==2)~sex,all=Surv(time,status==2)~1,d=read("lung"),at=c(0,3,180,365,730,1000),tau=c(365,1000)),
 veteran=list(f=Surv(time,status)~celltype,all=Surv(time,status)~1,d=read("veteran"),at=c(10,100,200.5,400),tau=c(180,999)),
 gbsg=list(f=Surv(rfstime,status)~grade,all=Surv(rfstime,status)~1,d=read("gbsg"),at=c(365,1825),tau=c(1825,2659)),
 tiny_heavy_ties=list(f=Surv(time,status)~1,all=Surv(time,status)~1,d=read("tiny_heavy_ties"),at=c(1,2,3),tau=c(2,4)),
 tiny_all_events=list(f=Surv(time,status)~1,all=Surv(time,status)~1,d=read("tiny_all_events"),at=c(1,2.5),tau=c(2,9)),
 # the curve is flat at exactly one half: R takes the middle of the flat stretch
 half=list(f=Surv(time,status)~1,all=Surv(time,status)~1,d=data.frame(time=c(1,2,3,7,9,9),status=c(1,1,1,1,0,0)),at=c(3,4),tau=c(5)))
one<-function(f,d,type,at,tau){
  s<-do.call("survfit",list(formula=f,data=d,conf.type=type))
  k<-if(is.null(s$strata)) 1 else length(s$strata)
  m<-function(rmean){ t<-summary(s,rmean=rmean)$table; if(!is.matrix(t)) t<-matrix(t,1,dimnames=list(NULL,names(t))); t }
  each<-function(tau,what) do.call(rbind,lapply(tau,function(u) unname(m(u)[,what])))
  common<-m("common"); lcl<-grep("LCL",colnames(common)); ucl<-grep("UCL",colnames(common))
  e<-summary(s,times=at,extend=TRUE)
  by<-function(v) matrix(v,nrow=k,byrow=TRUE)
  list(groups=I(if(k==1) "all" else names(s$strata)),median=I(unname(common[,"median"])),lower=I(unname(common[,lcl])),upper=I(unname(common[,ucl])),
   until=max(s$time),rmean=I(unname(common[,"rmean"])),se=I(unname(common[,"se(rmean)"])),
   last=I(if(k==1) max(s$time) else unname(sapply(1:k,function(i) max(s[i]$time)))),
   tau=I(tau),rmean_tau=each(tau,"rmean"),se_tau=each(tau,"se(rmean)"),
   at=I(at),n=by(e$n.risk),surv=by(e$surv),std_err=by(e$std.err),at_lower=by(e$lower),at_upper=by(e$upper))
}
out<-list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival")))
for(nm in names(tables)) for(type in c("log","log-log","plain")){ x<-tables[[nm]]; out[[nm]][[type]]<-list(all=one(x$all,x$d,type,x$at,x$tau),by=one(x$f,x$d,type,x$at,x$tau)) }
writeLines(toJSON(out,digits=I(17),auto_unbox=TRUE,na="null"),"test/oracles/km/summary.json")
